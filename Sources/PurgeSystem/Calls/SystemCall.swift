import CSystemShims
import Glibc

/// Runs system calls. Every wrapper that throws passes through `run`, which retries EINTR and lets a test make a call fail
/// (`SystemCallFaults`).
public enum SystemCall {
    /// Turns a shim's result (>= 0, or -errno) into a value or an error.
    @inline(__always)
    static func run<Value: FixedWidthInteger & SignedInteger>(
        _ name: Name, _ call: () -> Value
    ) throws(Errno) -> Value {
        while true {
            // In production the hook costs only this test of a thread-local pointer.
            let fault = shim_call_watch() == nil ? 0 : SystemCallWatch.fault(of: name)
            let result = fault == 0 ? call() : Value(-fault)
            if result >= 0 { return result }
            let code = Int32(truncatingIfNeeded: 0 &- result)
            if code != EINTR { throw Errno(code) }
        }
    }

    /// Makes a call that waits at most `milliseconds`, or forever if that is negative. After an interruption it waits for the
    /// remaining time.
    static func wait(_ name: Name, milliseconds: Int32, _ call: (Int32) -> Int32) throws(Errno) -> Int32 {
        let end = System.uptime() + Int64(milliseconds) * 1_000_000
        return try run(name) {
            guard milliseconds > 0 else { return call(milliseconds) }
            return call(Int32(max(0, (end - System.uptime() + 999_999) / 1_000_000)))
        }
    }

    @inline(__always)
    static func done<Value: FixedWidthInteger & SignedInteger>(_ name: Name, _ call: () -> Value) throws(Errno) {
        _ = try run(name, call)
    }
}

extension SystemCall {
    /// The calls that pass through `run`, named after the system call or the C function.
    public enum Name: String, Sendable, Hashable {
        // Opening and descriptors.
        case openat, openat2, dup2, fcntl, flock, socketpair, sendto
        case memfdCreate = "memfd_create"
        case closeRange = "close_range"
        // Data.
        case pread, pwrite, read, write, lseek, ftruncate, truncate, fallocate, fadvise, fsync, fdatasync, syncfs
        case copyFileRange = "copy_file_range"
        // Attributes.
        case stat, fstat, fstatat, statx, fstatfs, fstatvfs, access
        case fchmod, fchmodat, fchown, fchownat, futimens, utimensat
        case getxattr, setxattr, listxattr, removexattr
        // Names.
        case mkdirat, mkdtemp, mknodat, symlinkat, readlinkat, unlinkat, renameat2, linkat, getdents64
        case realpath, chdir, umount2
        // Processes, threads and signals.
        case posixSpawn = "posix_spawn"
        case fork
        case pidfdOpen = "pidfd_open"
        case waitpid, waitid, kill, sigaction, sigprocmask, sigtimedwait, poll, prctl, unshare
    }
}
