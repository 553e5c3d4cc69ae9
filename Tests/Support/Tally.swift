import Synchronization

/// A counter shared by several threads of a test.
public final class Tally: Sendable {
    private let number = Atomic<Int>(0)
    public init() {}
    public func add(_ amount: Int = 1) { number.wrappingAdd(amount, ordering: .sequentiallyConsistent) }
    public var value: Int { number.load(ordering: .sequentiallyConsistent) }
}
