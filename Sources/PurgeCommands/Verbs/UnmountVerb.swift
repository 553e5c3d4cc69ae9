import PurgeSystem

extension Verb {
    static let unmount = Verb(
        name: "unmount", summary: "take a mount away",
        synopsis: "MOUNTPOINT",
        description: [
            "Unmounts a container, and returns when its daemon has ended and the store is free, so that it can be "
                + "mounted again at once. If a program still uses the mount, tries for 5 seconds and then says "
                + "which. Readers of the control files (`purgefs events --follow`) do not count: they are ended.",
            "The mount of a daemon that has died is taken away too.",
        ],
        options: [], operands: 1...1, exitStatus: plainExitStatus
    ) { (invocation) throws(CommandFailure) in
        try UnmountVerb.run(invocation.arguments.operands[0], invocation.console)
    }
}

private enum UnmountVerb {
    private static let what = "cannot unmount"
    private static let patience = 5000

    static func run(_ path: String, _ console: Console) throws(CommandFailure) -> Int32 {
        let entry = try find(path)
        // This process must not be what keeps the mount busy.
        do throws(Errno) {
            try System.changeDirectory("/")
        } catch { throw CommandFailure(what, path: "/", error) }
        let daemon = DaemonEnd(entry)
        try takeAway(entry.mountpoint, path, daemon)
        // A bind mount, or a copy that another mount was given: the daemon serves that on.
        if let other = MountEntry.all().last(where: { $0.type == entry.type && $0.source == entry.source }) {
            console.warn("unmount: \(path): unmounted here; the same container is still mounted at \(other.mountpoint)")
            return ExitStatus.done
        }
        guard daemon.wait(milliseconds: 2 * patience) else {
            throw CommandFailure(
                "unmounted, but its daemon has not ended", path: path,
                "process \(daemon.daemons.map(String.init).joined(separator: ", ")) still has the store",
                advice: "Wait for it, or kill it.")
        }
        return ExitStatus.done
    }

    private static func takeAway(_ mountpoint: String, _ path: String, _ daemon: DaemonEnd) throws(CommandFailure) {
        let mount = Unmounting(mountpoint: mountpoint)
        var outcome = mount.attempt(for: patience) { !mount.isBusyWithControlFilesOnly() }
        if outcome == .busy && mount.isBusyWithControlFilesOnly() {
            // Asked, the daemon gives readers of events their end of file.
            if daemon.request() { _ = daemon.wait(milliseconds: patience) }
            outcome = mount.isMounted ? .busy : .done
        }
        switch outcome {
        case .done: return
        case .busy:
            let users = mount.users()
            throw CommandFailure(
                what, path: path, "still in use\(users.isEmpty ? " (nothing is known of by whom)" : "")",
                advice: (users + [
                    "End that and try again. At once, with errors for whoever uses it: "
                        + "fusermount3 -u -z \(mountpoint)"
                ]).joined(separator: "\n  "))
        case .refused(let error?) where error == .notPermitted:
            throw CommandFailure(what, path: path, error, advice: "Only the user who mounted it and root may.")
        case .refused(let error):
            throw CommandFailure(what, path: path, error.map { "\($0)" } ?? "refused", advice: "")
        }
    }

    /// The mount point as the kernel knows it. One whose daemon has died cannot be looked at.
    private static func find(_ path: String) throws(CommandFailure) -> MountEntry {
        guard let resolved = Places.resolvedOrParent(path) else {
            throw CommandFailure(what, path: path, Errno.noEntry)
        }
        if let entry = MountEntry.container(at: resolved) { return entry }
        if let mount = MountEntry.containers().map(\.mountpoint).last(where: { resolved.hasPrefix($0 + "/") }) {
            throw CommandFailure(
                what, path: path, "this lies in a mount, and is not the mount point",
                advice: "Say: purgefs unmount \(mount)")
        }
        throw CommandFailure(
            what, path: path, "no container is mounted there",
            advice: "`grep fuse.purgefs /proc/mounts` lists those that are.")
    }
}
