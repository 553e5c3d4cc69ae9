/// A problem that `purgefs check` found in a store.
public struct StoreProblem: Hashable, Sendable, CustomStringConvertible {
    public var path: String
    public var what: String
    public var advice: String
    /// Whether `purgefs check --repair` can repair it.
    public var isRepairable: Bool
    /// The repair that was made; nil if there was none.
    public var repair: String?

    public init(path: String, what: String, advice: String, isRepairable: Bool, repair: String? = nil) {
        self.path = path
        self.what = what
        self.advice = advice
        self.isRepairable = isRepairable
        self.repair = repair
    }

    init(_ error: StoreError, isRepairable: Bool) {
        self.init(path: error.path, what: error.what, advice: error.advice, isRepairable: isRepairable)
    }

    public var description: String { "\(path): \(what)\n  \(repair ?? advice)" }
}
