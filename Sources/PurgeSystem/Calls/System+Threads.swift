import CSystemShims
import Glibc

// Locks, and properties of threads.
extension System {
    public static func lockExclusively(_ fd: Int32) throws(Errno) {
        try SystemCall.done(.flock) { shim_flock(fd, LOCK_EX | LOCK_NB) }
    }
    /// Takes a lock that others may share. Like `lockExclusively`, throws EAGAIN instead of waiting.
    public static func lockShared(_ fd: Int32) throws(Errno) {
        try SystemCall.done(.flock) { shim_flock(fd, LOCK_SH | LOCK_NB) }
    }
    /// Returns whether the file is open only through this descriptor and its duplicates, and is not mapped. Returns false if
    /// that cannot be determined.
    public static func isOpenNowhereElse(_ fd: Int32) -> Bool {
        do throws(Errno) { return try SystemCall.run(.fcntl) { shim_is_open_nowhere_else(fd) } == 1 } catch {
            return false
        }
    }
    /// Returns whether `isOpenNowhereElse` detects mappings on this directory's file system, for files of any owner.
    public static func tellsMappings(in directory: Int32) -> Bool {
        do throws(Errno) { return try SystemCall.run(.fcntl) { shim_leases_tell_mappings(directory) } == 1 } catch {
            return false
        }
    }
    public static func threadID() -> Int32 { shim_gettid() }
    /// Returns whether a thread of this process is in a wait that no signal ends, for example for a lock in the kernel.
    /// Returns true if that cannot be determined.
    public static func isBlocked(thread: Int32) -> Bool {
        do throws(Errno) {
            let stat = try FileDescriptor.open("/proc/self/task/\(thread)/stat", O_RDONLY).readAll()
            // The line is `pid (name) state ...`; the name may contain any characters.
            guard let end = stat.lastIndex(of: UInt8(ascii: ")")), stat.count > end + 2 else { return true }
            return stat[end + 2] == UInt8(ascii: "D")
        } catch { return true }
    }
    /// Returns whether a thread has been killed: SIGKILL is pending for it, or it has ended. A thread that is not visible counts
    /// as not killed if this process sees no foreign threads at all.
    public static func isKilled(thread: pid_t) -> Bool {
        do throws(Errno) {
            let text = String(
                decoding: try FileDescriptor.open("/proc/\(thread)/status", O_RDONLY).readAll(), as: UTF8.self)
            return text.split(separator: "\n").contains { line in
                guard line.hasPrefix("SigPnd:") || line.hasPrefix("ShdPnd:"),
                    let pending = UInt64(line.dropFirst(7).drop { $0 == "\t" }, radix: 16)
                else { return false }
                return pending & (1 << (UInt64(SIGKILL) - 1)) != 0
            }
        } catch { return error == .noEntry && thread != 0 && seesOwnProcesses }
    }
    /// Returns whether a thread is in execve(2) or execveat(2). False if that is not visible, as
    /// for another process under ptrace_scope 1 of Yama.
    public static func isStartingProgram(thread: pid_t) -> Bool {
        do throws(Errno) {
            let text = String(
                decoding: try FileDescriptor.open("/proc/\(thread)/syscall", O_RDONLY).readAll(), as: UTF8.self)
            return Int(text.prefix { $0 != " " }).map { shim_is_exec($0) } ?? false
        } catch { return false }
    }
    /// Returns the process of a thread, or nil if the thread has ended or is not visible.
    public static func process(ofThread thread: pid_t) -> pid_t? {
        do throws(Errno) {
            let text = String(
                decoding: try FileDescriptor.open("/proc/\(thread)/status", O_RDONLY).readAll(), as: UTF8.self)
            let line = text.split(separator: "\n").first { $0.hasPrefix("Tgid:") }
            return line.flatMap { pid_t($0.dropFirst(5).filter(\.isNumber)) }
        } catch { return nil }
    }
    /// Returns the kernel's name of the program that a process runs, at most 15 bytes, with U+FFFD for bytes that are not
    /// UTF-8; nil if the process has ended.
    public static func commandName(of process: pid_t) -> String? {
        do throws(Errno) {
            let text = try FileDescriptor.open("/proc/\(process)/comm", O_RDONLY).readAll(limit: 64)
            return String(decoding: text.last == 0x0A ? text.dropLast() : text[...], as: UTF8.self)
        } catch { return nil }
    }
    /// Makes this thread keep its capabilities when its identity changes.
    public static func keepCapabilities() throws(Errno) { try SystemCall.done(.prctl) { shim_keep_capabilities() } }
    /// Gives this thread its own umask, and with it its own working directory and root.
    public static func makeUmaskPrivate() throws(Errno) { try SystemCall.done(.unshare) { shim_private_umask() } }
    public static func setUmask(_ mask: mode_t) { shim_umask(mask) }
    /// Sets the owner of files that this thread creates. The thread's access changes too, unless it keeps its capabilities.
    public static func actAs(owner: uid_t, group: gid_t) { shim_set_fs_identity(owner, group) }
}
