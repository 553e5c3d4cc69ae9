import Glibc
import PurgeModel
import PurgeSystem
import Synchronization

/// The processes of the app: the one that `app.process` names, or else the children of `purgefs run`, with all descendants.
/// They are stopped, continued and killed as the state of the app says.
///
/// A descendant of another user than the named process is left alone, so that the daemon of root sends no signals that the
/// user could not send. The lock is taken before `VolumeCore.state`, and held while signals are sent.
final class AppProcesses: Sendable {
    private struct State {
        var process: ProcessStatus?
        /// `purgefs run`, whose other children than this process belong to the app.
        var parent: ProcessStatus?
        /// The processes that a suspension has stopped.
        var stopped: [ProcessStatus] = []
        var sharedFolders: [String] = []
        /// The device of the mount, such as `0:45`.
        var device: String?
    }
    /// The longest time that a stop waits until no process runs any more, in nanoseconds. A process in an uninterruptible call
    /// stops when the call returns.
    private static let patience: Int64 = 2_000_000_000
    /// The same before processes are killed.
    private static let shortPatience: Int64 = 200_000_000

    private let state = Mutex(State())

    /// The pid of the app's first process; nil if none runs.
    var pid: pid_t? { state.withLock { Self.members($0).first?.pid } }

    /// Makes all children of a process but this one belong to the app, as long as no other process is named.
    func adoptChildren(of parent: pid_t) { state.withLock { $0.parent = ProcessStatus(of: parent) } }

    /// The folders outside of the container in which a lock ends a suspended app. If there are none, every file outside of the
    /// container counts.
    var sharedFolders: [String] {
        get { state.withLock { $0.sharedFolders } }
        set { state.withLock { $0.sharedFolders = newValue } }
    }

    /// The device of the mount, read at its start, because a folder above the mount may be renamed later.
    var device: String? {
        get { state.withLock { $0.device } }
        set { state.withLock { $0.device = newValue } }
    }

    /// Names the process of the app, or with 0 none. ESRCH if there is no such process; EPERM if the caller could not send it
    /// signals; EINVAL if this daemon is one of its descendants.
    func set(_ pid: pid_t, by caller: pid_t) throws(Errno) {
        guard pid != 0 else { return state.withLock { Self.name(nil, in: &$0) } }
        guard System.seesOwnProcesses, let process = ProcessStatus(of: pid), !process.hasEnded,
            System.process(ofThread: pid) == pid
        else { throw .noSuchProcess }
        // The kernel reports the thread 0 for a caller in another PID namespace.
        guard caller != 0, let sender = ProcessStatus(of: caller)?.owner, sender == 0 || sender == process.owner
        else { throw .notPermitted }
        guard !ProcessStatus.tree(of: process).contains(where: { $0.pid == getpid() }) else { throw .invalid }
        state.withLock { Self.name(process, in: &$0) }
    }

    /// Makes `process` the process of the app; nil for none. If that is a change, continues the stopped processes, which no
    /// longer belong to the app.
    private static func name(_ process: ProcessStatus?, in state: inout State) {
        guard process != state.process else { return }
        send(SIGCONT, to: state.stopped)
        (state.process, state.stopped) = (process, [])
    }

    /// Sends the processes the signals that bring them into line with the state of the app, which is read under the lock, so
    /// that the last change counts. Processes of a terminated app go on, unless they were stopped: those are killed. Returns
    /// the locks that processes hold when they have stopped, without those that they have from `purgefs run`. The process of
    /// `caller` stops when its call returns, so nothing waits for it.
    func follow(caller: pid_t = 0, _ current: () -> AppState) -> [HeldLock] {
        state.withLock { state in
            switch current() {
            case .suspended:
                guard state.stopped.isEmpty else { return [] }
                stop(&state, caller: System.process(ofThread: caller) ?? 0)
                let inherited = state.parent.map { FileLock.all(of: $0.pid) } ?? []
                return state.stopped.flatMap(HeldLock.all).filter { !inherited.contains($0.lock) }
            case .foreground, .background:
                Self.send(SIGCONT, to: state.stopped)
                state.stopped = []
            case .terminated, .offloaded:
                if !state.stopped.isEmpty { _ = kill(&state) }
            }
            return []
        }
    }

    /// Kills the processes.
    func kill() { state.withLock { _ = kill(&$0) } }

    /// Kills the processes or, if the app has none, the process of the thread `caller`.
    func killApp(or caller: pid_t) {
        let hasProcesses = state.withLock { !kill(&$0, caller: caller).isEmpty }
        guard !hasProcesses, let process = System.process(ofThread: caller), process != getpid() else { return }
        do throws(Errno) { try System.signal(process, SIGKILL) } catch {}  // it has ended, or belongs to another user
    }

    /// Kills the processes, and waits until they have ended, but at most `patience`.
    func killAndWait() {
        var left = state.withLock { kill(&$0) }
        let began = System.uptime()
        while System.uptime() - began < Self.patience {
            left = left.filter { process in
                ProcessStatus(of: process.pid).map { $0.begin == process.begin && !$0.hasEnded } ?? false
            }
            if left.isEmpty { return }
            usleep(1000)
        }
    }

    private func kill(_ state: inout State, caller: pid_t = 0) -> [ProcessStatus] {
        // Stops them first: a child that is started between a look and the signal would not be found any more.
        stop(&state, caller: System.process(ofThread: caller) ?? 0, patience: Self.shortPatience)
        let killed = state.stopped
        Self.send(SIGKILL, to: killed)
        state.stopped = []
        return killed
    }

    /// Stops the processes, and those that they start meanwhile.
    private func stop(_ state: inout State, caller: pid_t, patience: Int64 = AppProcesses.patience) {
        var signalled: Set<pid_t> = []
        var pause: UInt32 = 1000
        let began = System.uptime()
        while true {
            let now = Self.members(state)
            let new = now.filter { !signalled.contains($0.pid) }
            Self.send(SIGSTOP, to: new)
            signalled.formUnion(new.map(\.pid))
            // Keeps processes whose parent has ended since they were stopped.
            state.stopped += new
            let waited = System.uptime() - began
            let isDone = waited > patience || now.allSatisfy { $0.isStopped || $0.hasEnded || $0.pid == caller }
            if (new.isEmpty && isDone) || waited > Self.patience { return }
            usleep(pause)
            pause = min(2 * pause, 20_000)
        }
    }

    private static func send(_ signal: Int32, to processes: [ProcessStatus]) {
        for process in processes where ProcessStatus(of: process.pid)?.begin == process.begin {
            do throws(Errno) { try System.signal(process.pid, signal) } catch {}  // it has ended
        }
    }

    private static func members(_ state: State) -> [ProcessStatus] {
        guard System.seesOwnProcesses, let root = state.process ?? state.parent, let now = ProcessStatus(of: root.pid),
            now.begin == root.begin, !now.hasEnded, let owner = now.owner
        else { return [] }
        return ProcessStatus.tree(of: now, without: getpid()).filter {
            (state.process != nil || $0.pid != now.pid) && (owner == 0 || $0.owner == owner)
        }
    }
}

/// A lock that a process of the app holds.
struct HeldLock: Sendable {
    var lock: FileLock
    var pid: pid_t

    /// Returns the locks of a process. Leaves out the shared locks that SQLite holds on a database in WAL mode, between
    /// transactions and during a read transaction.
    static func all(of process: ProcessStatus) -> [HeldLock] {
        let locks = FileLock.all(of: process.pid)
        func name(_ lock: FileLock) -> String { lock.path.replacing(" (deleted)", with: "") }
        let names = Set(locks.map(name))
        return locks.filter { $0.isExclusive || !(name($0).hasSuffix("-shm") || names.contains(name($0) + "-shm")) }
            .map { HeldLock(lock: $0, pid: process.pid) }
    }
}
