import Glibc
import PurgeSystem

/// The end of a run's mount: it is unmounted even if it is in use, and its daemon has ended.
struct RunEnding {
    /// For files that COMMAND's last processes are just closing.
    private static let patience = 500
    private static let daemonPatience = 10_000
    private static let silentDaemonPatience = 1000

    let mountpoint: String
    let console: Console
    /// Whether the daemon did not answer when COMMAND had ended; it then gets less time to end.
    let isSilent: Bool

    /// Whether nobody has unmounted it. The mount of a daemon that was killed stays.
    var isMounted: Bool { Unmounting(mountpoint: mountpoint).isMounted }

    /// Returns what went wrong; the mount and the daemon are gone nevertheless.
    func takeAway(_ daemon: DaemonProcess) -> [CommandFailure] {
        let mount = Unmounting(mountpoint: mountpoint)
        if mount.isMounted, mount.attempt(for: Self.patience) != .done {
            // Readers of events get end of file and need not be reported.
            if !mount.isBusyWithControlFilesOnly() { report(mount) }
        }
        // When told to end, the daemon unmounts even if the mount is in use. If it is unmounted already, the daemon
        // does not go on for a copy of the mount in a mount namespace that was made meanwhile.
        daemon.requestEnd()
        var failures: [CommandFailure] = []
        if !daemon.waitForEnd(milliseconds: isSilent ? Self.silentDaemonPatience : Self.daemonPatience) {
            failures.append(killed(daemon))
        }
        // A daemon that was killed leaves its mount behind.
        if mount.isMounted, mount.attempt(detaching: true) != .done {
            failures.append(
                CommandFailure(
                    "cannot unmount", path: mountpoint, "refused", advice: "By hand: fusermount3 -u -z \(mountpoint)"))
        }
        return failures
    }

    private func killed(_ daemon: DaemonProcess) -> CommandFailure {
        guard isSilent else {
            return CommandFailure(
                "the daemon did not end by itself and was killed", path: mountpoint, "process \(daemon.pid)",
                advice: "What the app wrote is in the store. Please report this.")
        }
        return CommandFailure(
            "the daemon did not answer (was it stopped?) and was killed", path: mountpoint, "process \(daemon.pid)",
            advice: "What the app wrote is in the store. Events of the last second may be missing.")
    }

    private func report(_ mount: Unmounting) {
        let users = mount.users()
        guard !users.isEmpty else { return }  // they have just closed it
        console.warn(
            "run: COMMAND has ended, but the container is still in use; it is unmounted nevertheless"
                + users.map { "\n  \($0)" }.joined())
    }
}
