import Synchronization
import Testing

/// An action that runs once, at a moment that the code under test reaches.
final class Moment: Sendable {
    private let action = Mutex<(@Sendable () throws -> Void)?>(nil)

    func run(_ body: @escaping @Sendable () throws -> Void) { action.withLock { $0 = body } }

    func come() {
        let body = action.withLock { action in
            defer { action = nil }
            return action
        }
        do { try body?() } catch { Issue.record(error) }
    }
}
