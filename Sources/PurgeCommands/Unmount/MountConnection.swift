import Glibc
import PurgeSystem

/// The connection between a mount and the daemon that serves it.
struct MountConnection {
    let entry: MountEntry

    enum Service {
        case served
        /// The connection has ended: every call fails.
        case ended
        /// Calls wait: the daemon hangs, or only a thread of it is left that cannot be killed.
        case silent
    }

    /// Tests the connection. A child makes the call, because a process whose call is never answered may be unable to end.
    func service(milliseconds: Int) -> Service {
        do throws(Errno) {
            let pid = try System.spawnDetached(
                Places.ownBinary(), ["purgefs", "status", "--", entry.mountpoint], keepsMessages: false)
            let deadline = System.uptime() + Int64(milliseconds) * 1_000_000
            while try System.wait(for: pid, blocking: false) == nil {
                guard System.uptime() < deadline else {
                    try System.signal(pid, SIGKILL)
                    return .silent
                }
                usleep(10_000)
            }
        } catch { return .served }  // it could not be tried
        // If the daemon is stopped, the child has ended itself, but a call by this process would never return.
        if StoppedDaemonWatch.daemon(of: entry) != nil { return .silent }
        return Places.isDead(entry.mountpoint) ? .ended : .served
    }

    /// Makes every pending and every later call into the mount fail. Returns false if this user may not do that.
    func abort() -> Bool {
        if abortByNumber() { return true }
        do throws(Errno) {
            try System.unmountByForce(entry.mountpoint)
            return true
        } catch { return error == .busy }
    }

    /// Aborts the connection by its number, which works even if only copies of the mount are left. Returns false if the number
    /// is unknown or this user may not do that.
    func abortByNumber() -> Bool {
        guard let number = entry.connection else { return false }
        do throws(Errno) {
            try FileDescriptor.open("/sys/fs/fuse/connections/\(number)/abort", O_WRONLY).writeAll(Array("1".utf8))
            return true
        } catch { return false }  // fusectl is not mounted there, for example in a container
    }
}
