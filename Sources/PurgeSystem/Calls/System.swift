import CSystemShims
import Glibc

public typealias CName = UnsafePointer<CChar>
public typealias FileStatus = stat

/// One wrapper for each system call. Names are relative to a directory descriptor, and symbolic
/// links are never followed.
public enum System {
    public static func open(at dir: Int32, _ name: CName, _ flags: Int32, mode: mode_t = 0) throws(Errno) -> Int32 {
        try SystemCall.run(.openat) { shim_openat(dir, name, flags, mode) }
    }
    /// A path below a directory that leads through no symbolic link and into no other mount; no other mount is
    /// accessed.
    public static func openInMount(_ dir: Int32, _ path: [CChar], _ flags: Int32) throws(Errno) -> Int32 {
        try SystemCall.run(.openat2) { shim_open_in_mount(dir, path, flags) }
    }
    /// From now on this thread has a descriptor table of its own, which is empty. Objects that own
    /// descriptors of the process must not be destroyed on it.
    public static func leaveDescriptors() throws(Errno) {
        try SystemCall.done(.closeRange) { shim_leave_descriptors() }
    }
    /// Does not wait, neither for the other end of a FIFO nor for a device. The caller checks the type of
    /// what it has opened before it uses it; for a plain file O_NONBLOCK means nothing more. EINVAL for
    /// something that cannot be opened in this way, and so is not a plain file.
    public static func openWithoutWaiting(at dir: Int32, _ name: CName, _ flags: Int32) throws(Errno) -> Int32 {
        do throws(Errno) {
            return try open(at: dir, name, flags | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        } catch .noSuchAddressOrDevice {
            throw .invalid
        } catch .tryAgain {
            // A process has a lease on the file, which only plain files can have; it gives the lease up when we wait.
            let place = try open(at: dir, name, openPath | O_NOFOLLOW | O_CLOEXEC)
            defer { close(place) }
            guard try status(place).isRegularFile else { throw .invalid }
            return try open(at: AT_FDCWD, "/proc/self/fd/\(place)", flags & ~O_NOFOLLOW | O_CLOEXEC)
        }
    }
    /// Never retried: Linux has freed the number even on EINTR.
    public static func close(_ fd: Int32) { _ = shim_close(fd) }
}

// Time.
extension System {
    /// Nanoseconds since some moment in the past; never goes back.
    public static func uptime() -> Int64 { nanoseconds(CLOCK_MONOTONIC) }
    /// Nanoseconds since 1970.
    public static func now() -> Int64 {
        nanoseconds(CLOCK_REALTIME)
    }
    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
