import CSystemShims
import Glibc

// Whole paths, as a user types them; symbolic links are followed.
extension System {
    public static func status(ofPath path: String) throws(Errno) -> FileStatus {
        var out = stat()
        try SystemCall.done(.stat) { shim_stat(path, &out) }
        return out
    }

    /// Absolute, without symbolic links, `.` and `..`. A path that is not UTF-8 is EILSEQ, because as text it would be
    /// a different path.
    public static func resolved(_ path: String) throws(Errno) -> String {
        guard let text = String(path: try resolved(Array(path.utf8CString))) else { throw .illegalByteSequence }
        return text
    }

    /// The same, byte for byte.
    public static func resolved(_ path: RawText) throws(Errno) -> [UInt8] {
        var resolved: UnsafeMutablePointer<CChar>?
        try SystemCall.done(.realpath) { shim_realpath(path, &resolved) }
        guard let resolved else { throw .invalid }
        defer { free(resolved) }
        return rawText(resolved).dropLast().map { UInt8(bitPattern: $0) }
    }

    /// The same for something that does not exist yet, or that cannot be examined.
    public static func resolvedOrParent(_ path: String) throws(Errno) -> String {
        do throws(Errno) {
            return try resolved(path)
        } catch .illegalByteSequence { throw .illegalByteSequence } catch {
            guard let name = path.pathNames.last else { throw error }
            let above = try resolved(path.parentPath)
            return above == "/" ? "/\(name)" : "\(above)/\(name)"
        }
    }

    /// R_OK, W_OK, X_OK or F_OK.
    public static func checkAccess(_ path: String, _ mode: Int32) throws(Errno) {
        try SystemCall.done(.access) { shim_access(path, mode) }
    }

    /// Makes a directory of mode 0700 whose name is `prefix` and six random characters.
    public static func makeTemporaryDirectory(prefix: String) throws(Errno) -> String {
        var pattern = Array((prefix + "XXXXXX").utf8CString)
        try SystemCall.done(.mkdtemp) { shim_make_temporary_directory(&pattern) }
        let path = pattern.dropLast().map(UInt8.init(bitPattern:))
        guard let made = String(validating: path, as: UTF8.self) else { throw .illegalByteSequence }
        return made
    }

    /// With `detaching`, a mount that is in use disappears when it is no longer used. Only for root.
    public static func unmount(_ path: String, detaching: Bool) throws(Errno) {
        try SystemCall.done(.umount2) { shim_unmount(path, detaching ? Int32(MNT_DETACH) : 0) }
    }

    /// The same by the setuid program that unmounts FUSE mounts for ordinary users; its messages are dropped. Returns
    /// whether it has unmounted.
    public static func unmountAsUser(_ path: String, detaching: Bool) throws(Errno) -> Bool {
        let words = ["fusermount3", "-u", "-q"] + (detaching ? ["-z"] : []) + ["--", path]
        let pid = try spawnDetached("fusermount3", words, keepsMessages: false)
        return try wait(for: pid, blocking: true) == .exited(0)
    }

    /// For a FUSE mount: every call that waits for its daemon fails. It is also unmounted, unless it is in use (EBUSY).
    public static func unmountByForce(_ path: String) throws(Errno) {
        try SystemCall.done(.umount2) { shim_unmount(path, Int32(MNT_FORCE)) }
    }

    public static func changeDirectory(_ path: String) throws(Errno) {
        try SystemCall.done(.chdir) { shim_chdir(path) }
    }
}
