import CSystemShims
import Glibc

// Locks, and what a thread is and does.
extension System {
    public static func lockExclusively(_ fd: Int32) throws(Errno) {
        try SystemCall.done(.flock) { shim_flock(fd, LOCK_EX | LOCK_NB) }
    }
    /// Several descriptors can have this lock at the same time, but none beside one that is locked exclusively.
    public static func lockShared(_ fd: Int32) throws(Errno) {
        try SystemCall.done(.flock) { shim_flock(fd, LOCK_SH | LOCK_NB) }
    }
    /// Whether the file is open only through this descriptor and its duplicates, and not mapped either. False
    /// if that cannot be determined.
    public static func isOpenNowhereElse(_ fd: Int32) -> Bool {
        do throws(Errno) { return try SystemCall.run(.fcntl) { shim_is_open_nowhere_else(fd) } == 1 } catch {
            return false
        }
    }
    /// Whether the above detects mappings, for any owner's files, on the file system of this directory.
    public static func tellsMappings(in directory: Int32) -> Bool {
        do throws(Errno) { return try SystemCall.run(.fcntl) { shim_leases_tell_mappings(directory) } == 1 } catch {
            return false
        }
    }
    public static func threadID() -> Int32 { shim_gettid() }
    /// Whether a thread of this process is in a wait that signals do not end, such as one for a lock in the kernel.
    /// True if that cannot be determined.
    public static func isBlocked(thread: Int32) -> Bool {
        do throws(Errno) {
            let stat = try FileDescriptor.open("/proc/self/task/\(thread)/stat", O_RDONLY).readAll()
            // `pid (name) state ...`; the name may have any characters.
            guard let end = stat.lastIndex(of: UInt8(ascii: ")")), stat.count > end + 2 else { return true }
            return stat[end + 2] == UInt8(ascii: "D")
        } catch { return true }
    }
    /// The process that a thread belongs to; nil if it has ended or cannot be seen.
    public static func process(ofThread thread: pid_t) -> pid_t? {
        do throws(Errno) {
            let text = String(
                decoding: try FileDescriptor.open("/proc/\(thread)/status", O_RDONLY).readAll(), as: UTF8.self)
            let line = text.split(separator: "\n").first { $0.hasPrefix("Tgid:") }
            return line.flatMap { pid_t($0.dropFirst(5).filter(\.isNumber)) }
        } catch { return nil }
    }
    /// The name of the program that a process runs, as the kernel knows it: at most 15 bytes, in which any byte may be.
    public static func commandName(of process: pid_t) -> String? {
        do throws(Errno) {
            let text = try FileDescriptor.open("/proc/\(process)/comm", O_RDONLY).readAll(limit: 64)
            return String(decoding: text.last == 0x0A ? text.dropLast() : text[...], as: UTF8.self)
        } catch { return nil }
    }
    /// Later changes of this thread's identity leave its capabilities alone.
    public static func keepCapabilities() throws(Errno) { try SystemCall.done(.prctl) { shim_keep_capabilities() } }
    /// This thread's own umask, apart from the process's.
    public static func makeUmaskPrivate() throws(Errno) { try SystemCall.done(.unshare) { shim_private_umask() } }
    public static func setUmask(_ mask: mode_t) { shim_umask(mask) }
    /// Sets the owner of what this thread creates.
    public static func actAs(owner: uid_t, group: gid_t) { shim_set_fs_identity(owner, group) }
}
