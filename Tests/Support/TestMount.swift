import Foundation
import Glibc
import PurgeSystem
import Synchronization

/// A mount of the program under test, with its own store, mount point, daemon, log and deadline.
public final class TestMount: Sendable {
    public let scratch: String
    public let store: String
    public let root: String
    private struct State {
        var daemon: ChildProcess?
        var expired = false
        var mayWarn = false
    }
    private let state = Mutex(State())

    init(scratch: String, store: String, mountpoint: String? = nil) throws {
        self.scratch = scratch
        self.store = store
        root = mountpoint ?? "\(scratch)/mount"
        if !Files.exists(root) { try Files.makeDirectory(root) }
    }

    public var daemon: ChildProcess? { state.withLock { $0.daemon } }
    /// The daemon's output to standard error so far.
    public var log: String { daemon?.errors ?? "" }

    /// Starts the daemon as a child of this process, and returns when the mount is ready.
    public func mount(_ options: [String] = [], wrapper: [String] = []) throws {
        let child = try Program.start(
            wrapper + [PurgefsBinary.path, "mount", "--foreground"] + options + [store, root])
        state.withLock { $0.daemon = child }
        try eventually(within: 30, "a working mount at \(root)") {
            if let status = child.status() {
                let log = child.errors
                forgetDaemon()
                throw TestFailure("purgefs mount ended with \(status) before it mounted:\n\(log)")
            }
            return MountTable.entry(at: root)?.type.hasPrefix("fuse") == true
                && Files.exists("\(root)/.purgefs/status.json")
        }
    }

    /// Unmounts cleanly, and checks everything that must hold then.
    public func unmount() throws {
        guard daemon != nil else { return }
        try checkNothingIsOpen()
        try takeAway()
        try awaitEnd()
    }

    /// Unmounts, and retries while the mount is busy: a background purge makes it busy during each system call on one of its
    /// names.
    private func takeAway() throws {
        let deadline = Deadline(seconds: 60)
        var outcome = try Program.run("fusermount3", "-u", root, timeout: 30)
        while outcome.errors.contains("busy"), !deadline.hasPassed {
            outcome = try Program.run("fusermount3", "-u", root, timeout: 30)
        }
        try outcome.succeeded()
    }

    /// Waits for the daemon's end, and checks its exit status, its log and the mount point. Tests that unmount by other means
    /// call this.
    public func awaitEnd() throws {
        guard let daemon else { return }
        if (try? eventually(within: 1, "a quick end", { daemon.status() != nil })) == nil {
            MountTable.removeCopies(of: root)
        }
        let status = try daemon.wait(within: 60)
        let log = daemon.errors
        forgetDaemon()
        guard status == 0 else { throw TestFailure("the daemon ended with \(status):\n\(log)") }
        if !state.withLock({ $0.mayWarn }) { try Self.checkLog(log) }
        guard MountTable.entry(at: root) == nil else { throw TestFailure("\(root) is still a mount") }
    }

    /// Waits for a daemon to end, like `awaitEnd`, but checks nothing: the next mount may exist already.
    public func awaitDaemonEnd(_ daemon: ChildProcess) throws {
        try daemon.wait(within: 60)
        forgetDaemon()
    }

    public func remount(_ options: [String] = []) throws {
        try unmount()
        try mount(options)
    }

    /// Kills the daemon with SIGKILL, and removes what is left of the mount.
    public func crash() throws {
        guard let daemon else { return }
        daemon.signal(SIGKILL)
        try daemon.wait(within: 60)
        try removeRemains()
        forgetDaemon()
    }

    /// Kills the daemon with SIGKILL and waits for its end. The caller must remove what is left of the mount.
    public func kill() throws {
        guard let daemon else { return }
        daemon.signal(SIGKILL)
        try daemon.wait(within: 10)
        forgetDaemon()
    }

    private func forgetDaemon() {
        let old = state.withLock { state in
            defer { state.daemon = nil }
            return state.daemon
        }
        if let old { for path in [old.outputPath, old.errorPath] { Glibc.unlink(path) } }
    }

    private func removeRemains() throws {
        if MountTable.entry(at: root) != nil {
            try Program.run("fusermount3", "-u", "-z", root, timeout: 30).succeeded()
        }
    }

    /// Permits warnings, in tests that provoke them.
    public func expectWarnings() { state.withLock { $0.mayWarn = true } }

    /// Fails if the log of a daemon that ended cleanly contains "error" or similar words.
    private static func checkLog(_ log: String) throws {
        for word in ["error", "warning", "fatal"] where log.lowercased().contains(word) {
            throw TestFailure("the daemon's log has \"\(word)\":\n\(log.suffix(4000))")
        }
    }

    /// Fails if the test has left descriptors open on its mount.
    private func checkNothingIsOpen() throws {
        for path in Files.open(in: "self") where path == root || path.hasPrefix(root + "/") {
            throw TestFailure("left open by the test: \(path)")
        }
    }

    /// Removes mount and daemon, whatever their state.
    func forceAway() {
        MountTable.abortConnection(of: root)
        _ = try? removeRemains()
        daemon?.signalGroup(SIGKILL)
        _ = try? daemon?.wait(within: 10)
        forgetDaemon()
    }

    /// Releases processes that hang on this mount, with errors; called by the watchdog.
    func expire() {
        state.withLock { $0.expired = true }
        MountTable.abortConnection(of: root)
        daemon?.signalGroup(SIGKILL)
    }
    var hasExpired: Bool { state.withLock { $0.expired } }
}

/// Mounts a new store for `body` and unmounts it, even if `body` throws.
///
/// - Parameters:
///   - options: The options of `purgefs mount`.
///   - backing: The file system under the store.
///   - tmpfsSize: The size of the disk under a store on tmpfs.
///   - deadline: The seconds after which the connection is aborted and the test fails.
///   - mounted: False if `body` mounts the store itself.
public func withMount<R>(
    _ options: [String] = ["--total", "64M"], on backing: Backing = .ext4, tmpfsSize: String = "2G",
    deadline: Double = 240,
    mounted: Bool = true, _ body: (TestMount) throws -> R
) throws -> R {
    try Scratch.with("mount") { scratch in
        let directory = try BackingDirectory(backing, in: scratch.path, tmpfsSize: tmpfsSize)
        let mount = try TestMount(scratch: scratch.path, store: "\(directory.path)/store")
        let alarm = Watchdog.shared.set(seconds: deadline) { mount.expire() }
        let result = Result {
            if mounted { try mount.mount(options) }
            let value = try body(mount)
            try mount.unmount()
            return value
        }
        Watchdog.shared.cancel(alarm)
        let log = mount.log
        if case .failure = result { mount.forceAway() }
        try directory.release()
        if mount.hasExpired { throw TestFailure("deadline of \(deadline) s passed; \(result)\n\(log.suffix(2000))") }
        return try result.get()
    }
}
