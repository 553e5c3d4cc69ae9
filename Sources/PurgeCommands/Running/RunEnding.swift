import Glibc
import PurgeSystem

/// The end of a run's mount: taken away whatever still uses it, and its daemon gone.
struct RunEnding {
    /// For what COMMAND's last processes are just letting go of.
    private static let patience = 500
    private static let daemonPatience = 10_000

    let mountpoint: String
    let console: Console

    /// What did not go as it should; the mount and the daemon are gone all the same.
    func takeAway(_ daemon: DaemonProcess) -> [CommandFailure] {
        let mount = Unmounting(mountpoint: mountpoint)
        if mount.isMounted, mount.attempt(for: Self.patience) != .done {
            // Readers of events get their end of file, and are no news.
            if !mount.isBusyWithControlFilesOnly() { report(mount) }
        }
        // Asked, it takes the mount away from whoever still uses it. Where the mount is gone it does not go on for
        // the copy of it that a mount namespace has which somebody made meanwhile.
        daemon.requestEnd()
        var failures: [CommandFailure] = []
        if !daemon.waitForEnd(milliseconds: Self.daemonPatience) {
            failures.append(
                CommandFailure(
                    "the daemon did not end by itself and was killed", path: mountpoint, "process \(daemon.pid)",
                    advice: "What the app wrote is in the store. Please report this."))
        }
        // A daemon that was killed leaves its mount behind.
        if mount.isMounted, mount.attempt(detaching: true) != .done {
            failures.append(
                CommandFailure(
                    "cannot unmount", path: mountpoint, "refused", advice: "By hand: fusermount3 -u -z \(mountpoint)"))
        }
        return failures
    }

    private func report(_ mount: Unmounting) {
        let users = mount.users()
        guard !users.isEmpty else { return }  // they have let go this moment
        console.warn(
            "run: COMMAND has ended, but the container is still in use; it is taken away all the same"
                + users.map { "\n  \($0)" }.joined())
    }
}
