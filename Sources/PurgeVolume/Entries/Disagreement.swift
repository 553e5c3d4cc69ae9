import Glibc
import PurgeSystem

/// The turns of a call that has found the store and the tree in disagreement: a rename or an unlink is under way, which
/// has changed the one and not yet the other. Its thread may need the CPU to get on, so the turns after the first few
/// sleep.
struct Disagreement: ~Copyable {
    private let hooks: VolumeHooks
    private var turns = 0
    private var deadline: Int64 = 0

    /// Turns that do not sleep.
    private static let quickTurns = 16
    /// In nanoseconds: far longer than a system call takes on a busy machine. A file that somebody has removed from the
    /// store itself stays in disagreement.
    private static let patience: Int64 = 5_000_000_000
    /// In microseconds.
    private static let pause: UInt32 = 500

    init(_ hooks: VolumeHooks) { self.hooks = hooks }

    /// Whether to look again.
    mutating func mayEnd() -> Bool {
        turns += 1
        if turns <= Self.quickTurns { return true }
        let now = System.uptime()
        if deadline == 0 {
            deadline = now + Self.patience
            hooks.beforeSlowWork()
        }
        guard now < deadline else { return false }
        usleep(Self.pause)
        return true
    }
}
