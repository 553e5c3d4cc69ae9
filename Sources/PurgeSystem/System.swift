import CSystemShims
import Glibc

public typealias CName = UnsafePointer<CChar>
public typealias FileStatus = stat

/// One wrapper for each system call. Names are relative to a directory descriptor and are
/// never followed when they are symbolic links.
public enum System {
    public static let openPath = SHIM_O_PATH
    public static let openNoAccessTime = SHIM_O_NOATIME
    public static let openDirect = SHIM_O_DIRECT
    public static let openTemporary = SHIM_O_TMPFILE

    public static func open(at dir: Int32, _ name: CName, _ flags: Int32, mode: mode_t = 0) throws(Errno) -> Int32 {
        try SystemCall.run { shim_openat(dir, name, flags, mode) }
    }
    /// A path below a directory that leads through no symbolic link and into no other mount; nothing is asked of one.
    public static func openInMount(_ dir: Int32, _ path: [CChar], _ flags: Int32) throws(Errno) -> Int32 {
        try SystemCall.run { shim_open_in_mount(dir, path, flags) }
    }
    /// From now on this thread has a descriptor table of its own, with nothing in it. Objects that own
    /// descriptors of the process must not come to their end on it.
    public static func leaveDescriptors() throws(Errno) { try SystemCall.done { shim_leave_descriptors() } }
    /// Waits for nobody: not for the other end of a FIFO, nor for a device. Whoever opens looks at what
    /// it got before it is used; for a plain file O_NONBLOCK has no further meaning. EINVAL for what
    /// cannot be opened in this way, and so is no plain file.
    public static func openWithoutWaiting(at dir: Int32, _ name: CName, _ flags: Int32) throws(Errno) -> Int32 {
        do throws(Errno) {
            return try open(at: dir, name, flags | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        } catch .noAddress {
            throw .invalid
        } catch .tryAgain {
            // Somebody has a lease on the file, which is for plain files alone: he gives it up when we wait.
            let place = try open(at: dir, name, openPath | O_NOFOLLOW | O_CLOEXEC)
            defer { close(place) }
            guard try status(place).st_mode & S_IFMT == S_IFREG else { throw .invalid }
            return try open(at: AT_FDCWD, "/proc/self/fd/\(place)", flags & ~O_NOFOLLOW | O_CLOEXEC)
        }
    }
    /// Never retried: Linux has freed the number even on EINTR.
    public static func close(_ fd: Int32) { _ = shim_close(fd) }
}

// Data.
extension System {
    public static func pread(
        _ fd: Int32, _ buffer: UnsafeMutableRawBufferPointer, offset: Int64
    ) throws(Errno) -> Int {
        try SystemCall.run { shim_pread(fd, buffer.baseAddress, buffer.count, offset) }
    }
    public static func pwrite(_ fd: Int32, _ buffer: UnsafeRawBufferPointer, offset: Int64) throws(Errno) -> Int {
        try SystemCall.run { shim_pwrite(fd, buffer.baseAddress, buffer.count, offset) }
    }
    public static func read(_ fd: Int32, _ buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        try SystemCall.run { shim_read(fd, buffer.baseAddress, buffer.count) }
    }
    public static func write(_ fd: Int32, _ buffer: UnsafeRawBufferPointer) throws(Errno) -> Int {
        try SystemCall.run { shim_write(fd, buffer.baseAddress, buffer.count) }
    }
    /// nil past the last data or hole (ENXIO).
    public static func seek(_ fd: Int32, _ offset: Int64, _ whence: Int32) throws(Errno) -> Int64 {
        try SystemCall.run { shim_lseek(fd, offset, whence) }
    }
    public static func truncate(_ fd: Int32, _ size: Int64) throws(Errno) {
        try SystemCall.done { shim_ftruncate(fd, size) }
    }
    public static func allocate(_ fd: Int32, mode: Int32, offset: Int64, length: Int64) throws(Errno) {
        try SystemCall.done { shim_fallocate(fd, mode, offset, length) }
    }
    /// Allocates blocks for so many bytes from `offset` on; the file's size and what is in it stay as they are.
    public static func reserve(_ fd: Int32, from offset: Int64, bytes: Int64) throws(Errno) {
        try allocate(fd, mode: 1, offset: offset, length: bytes)  // FALLOC_FL_KEEP_SIZE
    }
    public static func dropCache(_ fd: Int32, offset: Int64, length: Int64) throws(Errno) {
        try SystemCall.done { shim_posix_fadvise_dontneed(fd, offset, length) }
    }
    public static func sync(_ fd: Int32) throws(Errno) { try SystemCall.done { shim_fsync(fd) } }
    public static func syncData(_ fd: Int32) throws(Errno) { try SystemCall.done { shim_fdatasync(fd) } }
    public static func syncFileSystem(_ fd: Int32) throws(Errno) { try SystemCall.done { shim_syncfs(fd) } }
    public static func copyRange(
        from: Int32, offset: Int64, to: Int32, offset toOffset: Int64, length: Int
    ) throws(Errno) -> Int {
        try SystemCall.run { shim_copy_file_range(from, offset, to, toOffset, length) }
    }
}

// Attributes.
extension System {
    public static func status(_ fd: Int32) throws(Errno) -> FileStatus {
        var out = stat()
        try SystemCall.done { shim_fstat(fd, &out) }
        return out
    }
    public static func status(at dir: Int32, _ name: CName) throws(Errno) -> FileStatus {
        var out = stat()
        try SystemCall.done { shim_fstatat(dir, name, &out) }
        return out
    }
    /// Nanoseconds since 1970; ENODATA where the file system keeps no birth time.
    public static func birthTime(at dir: Int32, _ name: CName) throws(Errno) -> Int64 {
        try SystemCall.run { shim_birth_time(dir, name, 0) }
    }
    /// The device of the mount that holds the file, from the kernel's memory alone.
    public static func device(at dir: Int32, _ path: CName) throws(Errno) -> Int64 {
        try SystemCall.run { shim_device(dir, path) }
    }
    public static func fileSystemStatus(_ fd: Int32) throws(Errno) -> statvfs {
        var out = statvfs()
        try SystemCall.done { shim_fstatvfs(fd, &out) }
        return out
    }
    /// f_type of statfs(2), a magic number of <linux/magic.h>.
    public static func fileSystemType(_ fd: Int32) throws(Errno) -> Int64 { try SystemCall.run { shim_fs_type(fd) } }
    public static func changeMode(_ fd: Int32, _ mode: mode_t) throws(Errno) {
        try SystemCall.done { shim_fchmod(fd, mode) }
    }
    public static func changeMode(at dir: Int32, _ name: CName, _ mode: mode_t) throws(Errno) {
        try SystemCall.done { shim_fchmodat(dir, name, mode) }
    }
    public static func changeOwner(_ fd: Int32, _ owner: uid_t, _ group: gid_t) throws(Errno) {
        try SystemCall.done { shim_fchown(fd, owner, group) }
    }
    public static func changeOwner(at dir: Int32, _ name: CName, _ owner: uid_t, _ group: gid_t) throws(Errno) {
        try SystemCall.done { shim_fchownat(dir, name, owner, group) }
    }
    public static func setTimes(_ fd: Int32, access: timespec, modification: timespec) throws(Errno) {
        var times = (access, modification)
        try withUnsafePointer(to: &times) { (pair) throws(Errno) in
            try pair.withMemoryRebound(to: timespec.self, capacity: 2) { (times) throws(Errno) in
                try SystemCall.done { shim_futimens(fd, times) }
            }
        }
    }
    public static func setTimes(
        at dir: Int32, _ name: CName, access: timespec, modification: timespec
    ) throws(Errno) {
        var times = (access, modification)
        try withUnsafePointer(to: &times) { (pair) throws(Errno) in
            try pair.withMemoryRebound(to: timespec.self, capacity: 2) { (times) throws(Errno) in
                try SystemCall.done { shim_utimensat(dir, name, times) }
            }
        }
    }
}

// Names.
extension System {
    public static func makeDirectory(at dir: Int32, _ name: CName, mode: mode_t) throws(Errno) {
        try SystemCall.done { shim_mkdirat(dir, name, mode) }
    }
    public static func makeNode(at dir: Int32, _ name: CName, mode: mode_t, device: dev_t) throws(Errno) {
        try SystemCall.done { shim_mknodat(dir, name, mode, device) }
    }
    public static func makeSymbolicLink(to target: CName, at dir: Int32, _ name: CName) throws(Errno) {
        try SystemCall.done { shim_symlinkat(target, dir, name) }
    }
    /// The target, without a zero at its end.
    public static func readLink(at dir: Int32, _ name: CName) throws(Errno) -> [CChar] {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = try SystemCall.run { shim_readlinkat(dir, name, &target, target.count) }
        return Array(target[..<length])
    }
    public static func unlink(at dir: Int32, _ name: CName) throws(Errno) {
        try SystemCall.done { shim_unlinkat(dir, name, 0) }
    }
    public static func removeDirectory(at dir: Int32, _ name: CName) throws(Errno) {
        try SystemCall.done { shim_unlinkat(dir, name, AT_REMOVEDIR) }
    }
    public static func rename(
        at from: Int32, _ name: CName, to: Int32, _ newName: CName, flags: UInt32 = 0
    ) throws(Errno) {
        try SystemCall.done { shim_renameat2(from, name, to, newName, flags) }
    }
    public static func link(at from: Int32, _ name: CName, to: Int32, _ newName: CName) throws(Errno) {
        try SystemCall.done { shim_linkat(from, name, to, newName, 0) }
    }
    /// A new name for an open file, also for one that has none and was opened with O_TMPFILE.
    public static func link(_ fd: Int32, to: Int32, _ newName: CName) throws(Errno) {
        try SystemCall.done { shim_linkat(AT_FDCWD, "/proc/self/fd/\(fd)", to, newName, AT_SYMLINK_FOLLOW) }
    }
    /// One getdents64(2); 0 at the end.
    public static func directoryEntries(
        _ fd: Int32, into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        try SystemCall.run { shim_getdents(fd, buffer.baseAddress, buffer.count) }
    }
}

// Extended attributes: of `name` in `dir`, of `dir` itself where `name` is nil.
extension System {
    /// The value's length; with an empty buffer only that.
    public static func attribute(
        at dir: Int32, _ name: CName?, _ key: CName, into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        try SystemCall.run { shim_getxattr(dir, name, key, buffer.baseAddress, buffer.count) }
    }
    public static func setAttribute(
        at dir: Int32, _ name: CName?, _ key: CName, _ value: UnsafeRawBufferPointer, flags: Int32 = 0
    ) throws(Errno) {
        try SystemCall.done { shim_setxattr(dir, name, key, value.baseAddress, value.count, flags) }
    }
    /// The length of the list of names, each with a zero at its end.
    public static func attributeNames(
        at dir: Int32, _ name: CName?, into buffer: UnsafeMutableBufferPointer<CChar>
    ) throws(Errno) -> Int {
        try SystemCall.run { shim_listxattr(dir, name, buffer.baseAddress, buffer.count) }
    }
    public static func removeAttribute(at dir: Int32, _ name: CName?, _ key: CName) throws(Errno) {
        try SystemCall.done { shim_removexattr(dir, name, key) }
    }
}

// Locks, identity, time.
extension System {
    public static func lockExclusively(_ fd: Int32) throws(Errno) {
        try SystemCall.done { shim_flock(fd, LOCK_EX | LOCK_NB) }
    }
    /// Whether nobody has the file open but by this descriptor and its copies: no mapping either. False also
    /// where that cannot be told.
    public static func isOpenNowhereElse(_ fd: Int32) -> Bool { shim_is_open_nowhere_else(fd) == 1 }
    /// Whether the above tells of mappings, for any owner's files, on the file system of this directory.
    public static func tellsMappings(in directory: Int32) -> Bool { shim_leases_tell_mappings(directory) == 1 }
    public static func threadID() -> Int32 { shim_gettid() }
    /// The soft RLIMIT_NOFILE.
    public static func descriptorLimit() -> Int {
        var limits = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        return Int(clamping: limits.rlim_cur)
    }
    /// Whether a thread of this process is in a wait that signals do not end, as for a lock of the kernel's. true
    /// where that cannot be told.
    public static func isBlocked(thread: Int32) -> Bool {
        do throws(Errno) {
            let stat = try FileDescriptor.open("/proc/self/task/\(thread)/stat", O_RDONLY).readAll()
            // `pid (name) state ...`; the name may have any characters.
            guard let end = stat.lastIndex(of: UInt8(ascii: ")")), stat.count > end + 2 else { return true }
            return stat[end + 2] == UInt8(ascii: "D")
        } catch { return true }
    }
    /// The process that a thread belongs to; nil when it has ended or cannot be seen.
    public static func process(ofThread thread: pid_t) -> pid_t? {
        do throws(Errno) {
            let text = String(
                decoding: try FileDescriptor.open("/proc/\(thread)/status", O_RDONLY).readAll(), as: UTF8.self)
            let line = text.split(separator: "\n").first { $0.hasPrefix("Tgid:") }
            return line.flatMap { pid_t($0.dropFirst(5).filter(\.isNumber)) }
        } catch { return nil }
    }
    /// Later changes of this thread's identity leave its capabilities alone.
    public static func keepCapabilities() throws(Errno) { try SystemCall.done { shim_keep_capabilities() } }
    /// This thread's own umask, apart from the process's.
    public static func makeUmaskPrivate() throws(Errno) { try SystemCall.done { shim_private_umask() } }
    public static func setUmask(_ mask: mode_t) { shim_umask(mask) }
    /// Who owns what this thread creates.
    public static func actAs(owner: uid_t, group: gid_t) { shim_set_fs_identity(owner, group) }
    /// Nanoseconds since some time in the past; never goes back.
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
