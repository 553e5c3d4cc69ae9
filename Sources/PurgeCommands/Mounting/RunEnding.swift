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
        if mount.isMounted, mount.attempt(for: Self.patience) != .done { end(mount, daemon) }
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

    private func end(_ mount: Unmounting, _ daemon: DaemonProcess) {
        if mount.isBusyWithControlFilesOnly() {
            // Readers of events get their end of file, and are no news.
            daemon.requestEnd()
            if daemon.waitForEnd(milliseconds: Self.patience, killing: false) { return }
        } else {
            report(mount)
        }
        mount.cutOff()
        if daemon.waitForEnd(milliseconds: 2 * Self.patience, killing: false) { return }
        // Nothing could cut it off, so the mount lasts as long as its users. Asked twice, the daemon
        // does not wait for them.
        daemon.requestEnd()
        _ = daemon.waitForEnd(milliseconds: Self.patience, killing: false)
        daemon.requestEnd()
    }

    private func report(_ mount: Unmounting) {
        let users = mount.users()
        console.warn(
            "run: COMMAND has ended, but the container is still in use; it is taken away all the same"
                + users.map { "\n  \($0)" }.joined())
    }
}
