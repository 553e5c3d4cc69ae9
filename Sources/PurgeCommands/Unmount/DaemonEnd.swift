import Glibc
import PurgeContainers
import PurgeSystem

/// Ends the daemon behind a mount, or waits for its end, from a process that is not its parent.
struct DaemonEnd {
    private let store: MountedStore
    private(set) var daemons: [pid_t] = []
    private let partingWords: [FileDescriptor]

    /// Finds the daemon. This must happen before the mount is removed, because the mount's entry and root show which store the
    /// daemon serves.
    init(_ entry: MountEntry) {
        store = MountedStore(entry)
        daemons = ProcessTable.daemons(of: store)
        partingWords = daemons.compactMap(PartingWords.file)
    }

    /// Sends SIGTERM to the daemon, which then unmounts and ends. Returns whether a daemon got the signal.
    func request() -> Bool { send(SIGTERM) }

    /// Sends SIGKILL, for a daemon that does not react to `request`.
    func kill() { _ = send(SIGKILL) }

    /// Signals only daemons that still have the store, because the id of an ended one may have been reused. Returns whether
    /// any got the signal.
    private func send(_ number: Int32) -> Bool {
        let serving = ProcessTable.daemons(of: store)
        return daemons.filter(serving.contains).filter { pid in
            do throws(Errno) {
                try System.signal(pid, number)
                return true
            } catch { return false }
        }.isEmpty == false
    }

    /// The report of an ended daemon about state that it could not save; empty if there is none.
    var loss: String { partingWords.map(PartingWords.text).first { !$0.isEmpty } ?? "" }

    /// Whether there is a process that may serve the mount.
    var isRunning: Bool { daemons.contains { ProcessTable.isRunning($0) } }

    /// Waits until the daemon has ended and the store is free for the next mount. Returns false if the time ran out.
    func wait(milliseconds: Int) -> Bool {
        let deadline = System.uptime() + Int64(milliseconds) * 1_000_000
        while !isOver {
            guard System.uptime() < deadline else { return false }
            awaitOne()
        }
        return true
    }

    /// Waits at most 10 ms for the end of a running daemon, after which the store may be free. If no daemon is running, waits
    /// 0.2 ms.
    private func awaitOne() {
        do throws(Errno) {
            guard let pid = daemons.first(where: ProcessTable.isRunning) else { throw .tryAgain }
            _ = try System.waitForEnd(of: pid, milliseconds: 10)
        } catch { usleep(200) }
    }

    private var isOver: Bool { !isRunning && (store.isReplaced || Self.isFree(store.path)) }

    /// Returns false if another process has the lock of the store. Returns true if the store cannot be examined.
    static func isFree(_ store: String) -> Bool {
        do throws(Errno) {
            let directory = try FileDescriptor.open(store, O_RDONLY | O_DIRECTORY)
            try System.lockExclusively(directory.raw)
            return true
        } catch { return error != .tryAgain }
    }
}
