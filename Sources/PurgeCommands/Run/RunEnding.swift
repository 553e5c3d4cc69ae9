import Glibc
import PurgeCommandLine
import PurgeSystem

/// The end of a run's mount: the mount is removed even if it is in use, and its daemon ends.
struct RunEnding {
    /// How long to wait, in milliseconds, for COMMAND's last processes to close their files.
    private static let patience = 500
    /// How long to wait for an idle daemon, in milliseconds.
    private static let daemonPatience = 10_000
    /// How long to wait for a stopped daemon, in milliseconds.
    private static let stoppedPatience = 1000
    /// The least processor time, in ticks of 10 ms, that a working daemon uses within `stoppedPatience`.
    private static let leastWork: Int64 = 5
    /// The longest wait for a daemon that still works, in nanoseconds.
    private static let longestWork: Int64 = 600_000_000_000

    let area: RunArea
    let mountpoint: String
    let console: Console

    /// Unmounts the covers. Returns whether the container is mounted, and the failures.
    func takeCoversAway() -> (isMounted: Bool, failures: [CommandFailure]) {
        RunCover(area: area, mountpoint: mountpoint, console: console).takeAway()
    }

    /// Unmounts the container even if it is in use, ends its daemon, and returns the failures. Normally the daemon has ended
    /// when this returns. If the store is discarded, this returns as soon as the daemon no longer uses the store.
    func takeAway(
        _ daemon: DaemonProcess, isMounted: Bool, _ record: RunRecord, isStoreDiscarded: Bool
    ) -> [CommandFailure] {
        let mount = Unmounting(mountpoint: mountpoint)
        if isMounted, mount.attempt(for: Self.patience) != .done {
            // Readers of events get end of file and need not be reported.
            if !mount.isBusyWithControlFilesOnly() { report(mount) }
        }
        // When told to end, the daemon unmounts even a mount that is in use. If the container is already unmounted, the
        // daemon does not wait for a copy of the mount in another mount namespace.
        daemon.requestEnd()
        area.removeEmpty(mountpoint: mountpoint)
        if isMounted, isStoreDiscarded, record.awaitReport(milliseconds: Int64(Self.stoppedPatience)) != nil {
            return []
        }
        return awaitEndAndUnmount(daemon, record)
    }

    /// Ends the daemon and removes a mount that it leaves behind. Returns the failures. Called if a signal, or the end of the
    /// daemon, kept the mount from becoming ready.
    func abandon(_ daemon: DaemonProcess) -> [CommandFailure] {
        daemon.requestEnd()
        return awaitEndAndUnmount(daemon, nil)
    }

    private func awaitEndAndUnmount(_ daemon: DaemonProcess, _ record: RunRecord?) -> [CommandFailure] {
        let mount = Unmounting(mountpoint: mountpoint)
        var failures = awaitEnd(of: daemon, record)
        // A daemon that was killed leaves its mount behind.
        if mount.isMounted, mount.attempt(detaching: true) != .done {
            failures.append(
                CommandFailure(
                    "cannot unmount", path: mountpoint, "refused",
                    advice: "By hand: fusermount3 -u -z \(ShellWord.of(mountpoint))"))
        }
        return failures
    }

    /// Waits for the daemon's end. Kills a daemon that was stopped, that stays idle although it was told to end, or that works
    /// for longer than `longestWork`. A daemon works while it uses processor time or its events are still arriving.
    func awaitEnd(of daemon: DaemonProcess, _ record: RunRecord?) -> [CommandFailure] {
        var left = Self.daemonPatience
        var (used, newest) = (daemon.usedTime, record?.newest)
        let began = System.uptime()
        while !daemon.waitForEnd(milliseconds: Self.stoppedPatience) {
            let (usedNow, newestNow) = (daemon.usedTime, record?.newest)
            let isIdle = usedNow - used < Self.leastWork && newestNow == newest
            left = isIdle ? left - Self.stoppedPatience : Self.daemonPatience
            (used, newest) = (usedNow, newestNow)
            if daemon.isStopped || left <= 0 || System.uptime() - began > Self.longestWork { return [kill(daemon)] }
        }
        return []
    }

    private func kill(_ daemon: DaemonProcess) -> CommandFailure {
        let wasStopped = daemon.isStopped
        daemon.kill()
        guard wasStopped else {
            return CommandFailure(
                "the daemon did not end by itself and was killed", path: mountpoint, "process \(daemon.pid)",
                advice: "The store has everything that the app wrote. Please report this.")
        }
        return CommandFailure(
            "the daemon did not answer (was it stopped?) and was killed", path: mountpoint, "process \(daemon.pid)",
            advice: "The store has everything that the app wrote; events of the last second may be missing.")
    }

    private func report(_ mount: Unmounting) {
        let users = mount.users()
        guard !users.isEmpty else { return }  // they have just closed it
        console.warn(
            "run: COMMAND has ended, but the container is still in use; unmounting it anyway"
                + users.map { "\n  \($0)" }.joined())
    }
}
