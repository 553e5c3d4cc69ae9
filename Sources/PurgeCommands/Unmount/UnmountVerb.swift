import PurgeCommandLine
import PurgeContainers
import PurgeSystem

extension Verb {
    static let unmount = Verb(
        name: "unmount", aliases: ["umount"], summary: "unmount a container",
        synopsis: "MOUNTPOINT [--force]",
        description: [
            "Unmounts a container (`purgefs umount` is the same), and returns when its daemon has ended and the store "
                + "is free, so that it can be mounted again at once. If programs still use the mount, it keeps trying "
                + "for 5 seconds and then names them. Readers of the control files (`purgefs events --follow`) do not "
                + "count: they reach end of file.",
            "If the daemon could not save everything at its end, because the disk under the store is full or fails, "
                + "`unmount` names the loss and exits with 1; the container is unmounted.",
            "A mount whose daemon has died is removed even if it is in use or hangs. A daemon that runs but does not "
                + "answer is ended only with --force.",
        ],
        options: [.force], operands: 1...1, exitStatus: ExitStatus.plain,
        examples: ["purgefs unmount ./app"]
    ) { (invocation) throws(CommandFailure) in
        try UnmountVerb.run(
            invocation.arguments.operands[0], isForced: invocation.arguments.has(.force), invocation.console)
    }
}

extension OptionSpec {
    static let force = OptionSpec(
        "force",
        "unmount even if it is in use: programs that use it get errors, and a daemon that does not end is killed"
    )
}

private enum UnmountVerb {
    private static let what = "cannot unmount"
    private static let patience = 5000

    static func run(_ path: String, isForced: Bool, _ console: Console) throws(CommandFailure) -> Int32 {
        let (entry, isHere) = try find(path, isForced: isForced)
        // This process must not keep the mount busy.
        do throws(Errno) {
            try System.changeDirectory("/")
        } catch { throw CommandFailure(what, path: "/", error) }
        let daemon = DaemonEnd(entry)
        if isHere { try takeAway(entry, path, daemon, isForced: isForced) }
        // The daemon keeps serving a bind mount, or a copy of the mount elsewhere.
        if let other = MountEntry.all().last(where: { $0.device == entry.device && $0.type == entry.type }) {
            let (here, there) = (VisibleText.of(path), VisibleText.of(other.mountpoint))
            console.warn("unmount: \(here): unmounted here; the same container is still mounted at \(there)")
            return ExitStatus.done
        }
        // Most daemons end at once, and looking for copies means examining each process.
        if daemon.wait(milliseconds: 20) { return try done(daemon) }
        var copies = MountCopy.all(of: entry)
        if !copies.isEmpty && !isForced {
            // The process that keeps the copy may be about to end.
            if daemon.wait(milliseconds: 500) { return try done(daemon) }
            copies = MountCopy.all(of: entry)
            if !copies.isEmpty {
                throw MountCopy.kept("unmounted, but not everywhere", path, by: copies, daemon.daemons, at: path)
            }
        }
        if end(daemon, hasCopies: !copies.isEmpty, entry, isForced: isForced) { return try done(daemon) }
        let pids = daemon.daemons.map(String.init)
        throw CommandFailure(
            "unmounted, but its daemon has not ended", path: path,
            pids.isEmpty
                ? "the store is still locked" : "process \(pids.joined(separator: ", ")) still has the store",
            advice: "A process in another mount namespace (a sandbox, a container) may still have a copy of the mount: "
                + "end it." + (pids.isEmpty ? "" : "\n  Or kill the daemon: kill -9 \(pids.joined(separator: " "))"))
    }

    /// Returns the exit status after the daemon has ended. Throws if the daemon has reported that it could not save everything.
    private static func done(_ daemon: DaemonEnd) throws(CommandFailure) -> Int32 {
        if daemon.loss.isEmpty { return ExitStatus.done }
        throw CommandFailure(status: ExitStatus.failed, message: daemon.loss)
    }

    /// Waits for the daemon's end once the mount is gone here. Tells a daemon that serves copies to end and, if forced, kills
    /// one that does not. Returns whether the daemon has ended and the store is free.
    private static func end(_ daemon: DaemonEnd, hasCopies: Bool, _ entry: MountEntry, isForced: Bool) -> Bool {
        if hasCopies { _ = daemon.request() }
        if daemon.wait(milliseconds: isForced ? patience : 2 * patience) { return true }
        guard isForced else { return false }
        daemon.kill()
        if daemon.wait(milliseconds: patience) { return true }
        // Once a connection has ended, its number may be reused. As long as a copy of the mount shows our store, the number
        // still belongs to our connection.
        guard !MountCopy.all(of: entry).isEmpty, MountConnection(entry: entry).abortByNumber() else { return false }
        return daemon.wait(milliseconds: patience)
    }

    private static func takeAway(
        _ entry: MountEntry, _ path: String, _ daemon: DaemonEnd, isForced: Bool
    ) throws(CommandFailure) {
        let mount = Unmounting(mountpoint: entry.mountpoint)
        var outcome = mount.attempt()
        if outcome == .busy || outcome.isUnable && isForced {
            outcome = isForced ? end(mount, entry, daemon) : try wait(mount, entry, path, daemon)
        }
        switch outcome {
        case .done: return
        case .busy:
            let users = mount.users()
            throw CommandFailure(
                what, path: path, "still in use\(users.isEmpty ? "; cannot tell by which process" : "")",
                advice: (users + [
                    "End the programs that use it, and try again. To unmount at once, with errors for them: purgefs "
                        + "unmount --force \(ShellWord.of(entry.mountpoint))"
                ]).joined(separator: "\n  "))
        case .unable(let objection):
            throw CommandFailure(
                what, path: path, "\(objection.subject): \(objection.reason)",
                advice: "Unmount it where it was mounted, or have its daemon do it, with errors for programs that use "
                    + "it: purgefs unmount --force \(ShellWord.of(entry.mountpoint))")
        case .refused(let error?) where error == .notPermitted:
            throw CommandFailure(
                what, path: path, error, advice: "Only root and the user who mounted it may unmount it.")
        case .refused(let error):
            throw CommandFailure(what, path: path, error.map { "\($0)" } ?? "refused", advice: "")
        }
    }

    /// If the daemon of a busy mount answers, waits up to five seconds for the users. If only control files are still open
    /// then, tells the daemon to end and waits up to five seconds more. If the daemon has died, detaches the mount. Throws if
    /// the daemon hangs, or if it has died and its connection cannot be aborted.
    private static func wait(
        _ mount: Unmounting, _ entry: MountEntry, _ path: String, _ daemon: DaemonEnd
    ) throws(CommandFailure) -> Unmounting.Outcome {
        let connection = MountConnection(entry: entry)
        switch connection.service(milliseconds: patience) {
        case .served: return patiently(mount, daemon)
        case .ended: return mount.attempt(detaching: true)
        case .silent where daemon.isRunning:
            throw CommandFailure(
                what, path: path,
                "in use, and its daemon (process \(daemon.daemons.map(String.init).joined(separator: ", "))) does not answer",
                advice: "End it, with errors for programs that use the mount: purgefs unmount --force "
                    + VisibleText.of(entry.mountpoint))
        case .silent:
            guard connection.abort() else {
                throw CommandFailure(
                    what, path: path, "its daemon has died, and the kernel still waits for it",
                    advice: "As root: umount -f \(ShellWord.of(entry.mountpoint)); or write 1 to "
                        + "/sys/fs/fuse/connections/\(entry.connection.map(String.init) ?? "N")/abort.")
            }
            return mount.attempt(detaching: true)
        }
    }

    private static func patiently(_ mount: Unmounting, _ daemon: DaemonEnd) -> Unmounting.Outcome {
        let outcome = mount.attempt(for: patience) { !mount.isBusyWithControlFilesOnly() }
        guard outcome == .busy, mount.isBusyWithControlFilesOnly() else { return outcome }
        // A daemon that is told to end gives readers of events their end of file.
        if daemon.request() { _ = daemon.wait(milliseconds: patience) }
        return mount.isMounted ? .busy : .done
    }

    /// Ends the mount although it is in use, so its users get errors. A daemon that still responds unmounts the container
    /// itself, and leaves the store complete.
    private static func end(_ mount: Unmounting, _ entry: MountEntry, _ daemon: DaemonEnd) -> Unmounting.Outcome {
        if daemon.request() { _ = daemon.wait(milliseconds: patience) }
        guard mount.isMounted else { return .done }
        _ = MountConnection(entry: entry).abort()
        return mount.isMounted ? mount.attempt(detaching: true) : .done
    }

    /// Finds the mount point as the kernel knows it, and whether the mount is in our own namespace. If not, another mount
    /// namespace has a copy of it. A mount point whose daemon has died cannot be examined, so only its parent is resolved.
    private static func find(
        _ path: String, isForced: Bool
    ) throws(CommandFailure) -> (entry: MountEntry, isHere: Bool) {
        try Places.requireProc(what)
        guard let resolved = Places.resolvedOrParent(path) else {
            throw CommandFailure(what, path: path, Errno.noEntry)
        }
        if let entry = MountEntry.container(at: resolved) { return (entry, true) }
        if let copy = MountCopy.container(at: resolved) {
            if isForced { return (copy.entry, false) }
            throw MountCopy.kept(
                what, path, by: MountCopy.all(of: copy.entry), DaemonEnd(copy.entry).daemons, at: path)
        }
        if let mount = MountEntry.containers().map(\.mountpoint).last(where: { resolved.isPath(below: $0) }) {
            throw CommandFailure(
                what, path: path, "this is inside a mount, not its mount point",
                advice: "Use: purgefs unmount \(ShellWord.of(mount))")
        }
        if let mount = Target.mount(ofStore: resolved) {
            throw CommandFailure(
                what, path: path, "this is a store, and it is mounted elsewhere",
                advice: "Use: purgefs unmount \(ShellWord.of(mount))")
        }
        throw CommandFailure(
            what, path: path, "no container is mounted there",
            advice: "To list mounted containers: purgefs list")
    }
}
