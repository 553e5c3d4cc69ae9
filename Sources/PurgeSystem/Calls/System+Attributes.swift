import CSystemShims
import Glibc

// File status and inode attributes.
extension System {
    public static func status(_ fd: Int32) throws(Errno) -> FileStatus {
        var out = stat()
        try SystemCall.done(.fstat) { shim_fstat(fd, &out) }
        return out
    }
    public static func status(at dir: Int32, _ name: CName) throws(Errno) -> FileStatus {
        var out = stat()
        try SystemCall.done(.fstatat) { shim_fstatat(dir, name, &out) }
        return out
    }
    /// Returns the birth time in nanoseconds since 1970, or 0 for an earlier time. Throws ENODATA if the file system keeps
    /// none.
    public static func birthTime(at dir: Int32, _ name: CName) throws(Errno) -> Int64 {
        try SystemCall.run(.statx) { shim_birth_time(dir, name, 0) }
    }
    /// Returns the device of the mount that holds the file. This asks no file system for attributes, so no daemon is asked
    /// about its own mount point. A daemon is asked to look up a name in its mount that the kernel has not cached.
    public static func device(at dir: Int32, _ path: CName) throws(Errno) -> Int64 {
        try SystemCall.run(.statx) { shim_device(dir, path) }
    }
    /// Returns the inode number that the kernel has cached, without its highest bit. As with `device`, no daemon is asked
    /// about its own mount point: the number there is 1 (FUSE_ROOT_ID) until another call asks.
    public static func knownInode(ofPath path: String) throws(Errno) -> Int64 {
        try SystemCall.run(.statx) { shim_known_inode(path) }
    }
    /// Returns whether something may be mounted at `path`; false is certain. As with `device`, a daemon is not asked about its
    /// own mount point, but may be asked about a name in its mount.
    public static func mayBeMountpoint(_ path: String) -> Bool {
        do { return try SystemCall.run(.statx) { shim_is_mount_root(path) } != 0 } catch { return true }
    }
    public static func fileSystemStatus(_ fd: Int32) throws(Errno) -> statvfs {
        var out = statvfs()
        try SystemCall.done(.fstatvfs) { shim_fstatvfs(fd, &out) }
        return out
    }
    /// Returns f_type of statfs(2), a magic number from <linux/magic.h>.
    public static func fileSystemType(_ fd: Int32) throws(Errno) -> Int64 {
        try SystemCall.run(.fstatfs) { shim_fs_type(fd) }
    }
    public static func changeMode(_ fd: Int32, _ mode: mode_t) throws(Errno) {
        try SystemCall.done(.fchmod) { shim_fchmod(fd, mode) }
    }
    public static func changeMode(at dir: Int32, _ name: CName, _ mode: mode_t) throws(Errno) {
        try SystemCall.done(.fchmodat) { shim_fchmodat(dir, name, mode) }
    }
    public static func changeOwner(_ fd: Int32, _ owner: uid_t, _ group: gid_t) throws(Errno) {
        try SystemCall.done(.fchown) { shim_fchown(fd, owner, group) }
    }
    public static func changeOwner(at dir: Int32, _ name: CName, _ owner: uid_t, _ group: gid_t) throws(Errno) {
        try SystemCall.done(.fchownat) { shim_fchownat(dir, name, owner, group) }
    }
    public static func setTimes(_ fd: Int32, access: timespec, modification: timespec) throws(Errno) {
        var times = (access, modification)
        try withUnsafePointer(to: &times) { (pair) throws(Errno) in
            try pair.withMemoryRebound(to: timespec.self, capacity: 2) { (times) throws(Errno) in
                try SystemCall.done(.futimens) { shim_futimens(fd, times) }
            }
        }
    }
    public static func setTimes(
        at dir: Int32, _ name: CName, access: timespec, modification: timespec
    ) throws(Errno) {
        var times = (access, modification)
        try withUnsafePointer(to: &times) { (pair) throws(Errno) in
            try pair.withMemoryRebound(to: timespec.self, capacity: 2) { (times) throws(Errno) in
                try SystemCall.done(.utimensat) { shim_utimensat(dir, name, times) }
            }
        }
    }
}
