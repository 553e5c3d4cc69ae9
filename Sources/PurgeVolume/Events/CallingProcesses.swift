import Glibc
import PurgeSystem
import Synchronization

/// The processes of the threads that FUSE reports, with their names. An answer from /proc is kept for one second, because a
/// program makes many calls. The lock is a leaf: no other lock is taken under it.
final class CallingProcesses: Sendable {
    struct Process {
        var pid: pid_t
        /// The process's command name; nil if it cannot be read.
        var name: String?
    }
    private struct Known {
        var process: Process
        /// When the entry expires, by System.uptime.
        var until: Int64
    }
    /// Nanoseconds.
    private static let lifetime: Int64 = 1_000_000_000
    /// The largest number of threads that are remembered.
    static let limit = 1024

    private let known = Mutex<[pid_t: Known]>([:])

    /// Returns the process of a thread. A thread that has ended counts as its own process, without a name.
    func process(ofThread thread: pid_t, at uptime: Int64 = System.uptime()) -> Process {
        if let known = known.withLock({ $0[thread] }), known.until > uptime { return known.process }
        let found = Self.read(thread)
        known.withLock { known in
            if known.count >= Self.limit { known = known.filter { $0.value.until > uptime } }
            if known.count >= Self.limit { known = [:] }
            known[thread] = Known(process: found, until: uptime + Self.lifetime)
        }
        return found
    }

    private static func read(_ thread: pid_t) -> Process {
        guard let pid = System.process(ofThread: thread) else { return Process(pid: thread, name: nil) }
        return Process(pid: pid, name: System.commandName(of: pid))
    }

    #if DEBUG
    var count: Int { known.withLock { $0.count } }
    #endif
}
