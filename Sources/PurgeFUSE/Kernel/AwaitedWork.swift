import PurgeSystem
import Synchronization

/// Work on another thread. A caller waits for it only while it makes progress, because a program may forever hold a kernel lock
/// that the work needs.
final class AwaitedWork: Sendable {
    private enum State { case underWay, done, abandoned }
    private let state = Mutex(State.underWay)
    private let steps = Gate()

    /// How many milliseconds one step may take: as long as an answer waits for a busy notifier (`Announcements`).
    private static let patience: Int64 = 2000

    var isAbandoned: Bool { state.withLock { $0 == .abandoned } }

    /// Notes that one more step is done.
    func advance() { steps.advance() }

    /// Notes that all of the work is done.
    func finish() {
        state.withLock { if $0 == .underWay { $0 = .done } }
        steps.advance()
    }

    /// Returns true when the work is done. Abandons it and returns false if a step takes too long.
    func wait() -> Bool {
        while true {
            let seen = steps.generation
            if state.withLock({ $0 == .done }) { return true }
            if steps.wait(while: seen, milliseconds: Self.patience) { continue }
            return state.withLock { state in
                if state == .underWay { state = .abandoned }
                return state == .done
            }
        }
    }
}
