import CSystemShims
import Glibc

public typealias CName = UnsafePointer<CChar>
public typealias FileStatus = stat

/// The wrappers of system calls. A name is relative to a directory descriptor. Its last component is not followed if it is a
/// symbolic link, except by `open` without O_NOFOLLOW. Calls on whole paths follow links.
public enum System {
    public static func open(at dir: Int32, _ name: CName, _ flags: Int32, mode: mode_t = 0) throws(Errno) -> Int32 {
        try SystemCall.run(.openat) { shim_openat(dir, name, flags, mode) }
    }
    /// Opens a path below a directory without following a symbolic link or touching another mount. Without openat2(2) (before
    /// Linux 5.6, or in some sandboxes), none of this is checked.
    public static func openInMount(_ dir: Int32, _ path: [CChar], _ flags: Int32) throws(Errno) -> Int32 {
        try SystemCall.run(.openat2) { shim_open_in_mount(dir, path, flags) }
    }
    /// Gives this thread its own, empty descriptor table. Objects that own descriptors of the process must not be destroyed
    /// on this thread.
    public static func leaveDescriptors() throws(Errno) {
        try SystemCall.done(.closeRange) { shim_leave_descriptors() }
    }
    /// Opens a name without waiting for the other end of a FIFO or for a device. The caller checks the file type before any
    /// use; on a regular file, O_NONBLOCK has no further effect. Throws EINVAL for a FIFO, socket or device that cannot be
    /// opened like this, and ELOOP for a symbolic link.
    public static func openWithoutWaiting(at dir: Int32, _ name: CName, _ flags: Int32) throws(Errno) -> Int32 {
        do throws(Errno) {
            return try open(at: dir, name, flags | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        } catch .noSuchAddressOrDevice {
            throw .invalid
        } catch .tryAgain {
            // Another process holds a lease on the file, so it must be a regular one. The process gives up the lease when we
            // wait.
            let place = try open(at: dir, name, openPath | O_NOFOLLOW | O_CLOEXEC)
            defer { close(place) }
            guard try status(place).isRegularFile else { throw .invalid }
            return try open(at: AT_FDCWD, "/proc/self/fd/\(place)", flags & ~O_NOFOLLOW | O_CLOEXEC)
        }
    }
    /// Never retried: Linux frees the descriptor number even on EINTR.
    public static func close(_ fd: Int32) { _ = shim_close(fd) }
}

// Time.
extension System {
    /// Returns nanoseconds since an arbitrary moment; never goes back.
    public static func uptime() -> Int64 { nanoseconds(CLOCK_MONOTONIC) }
    /// Returns nanoseconds since 1970.
    public static func now() -> Int64 {
        nanoseconds(CLOCK_REALTIME)
    }
    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
