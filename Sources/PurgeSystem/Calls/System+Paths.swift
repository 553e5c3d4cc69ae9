import CSystemShims
import Glibc

// Calls on whole paths, as a user types them. They follow symbolic links.
extension System {
    public static func status(ofPath path: String) throws(Errno) -> FileStatus {
        var out = stat()
        try SystemCall.done(.stat) { shim_stat(path, &out) }
        return out
    }

    /// Returns the path in absolute form, without symbolic links, `.` and `..`. Throws EILSEQ for a result that is not UTF-8,
    /// because text could not represent that path.
    public static func resolved(_ path: String) throws(Errno) -> String {
        guard let text = String(path: try resolved(Array(path.utf8CString))) else { throw .illegalByteSequence }
        return text
    }

    /// Returns the resolved path byte for byte.
    public static func resolved(_ path: RawText) throws(Errno) -> [UInt8] {
        var resolved: UnsafeMutablePointer<CChar>?
        try SystemCall.done(.realpath) { shim_realpath(path, &resolved) }
        guard let resolved else { throw .invalid }
        defer { free(resolved) }
        return rawText(resolved).dropLast().map { UInt8(bitPattern: $0) }
    }

    /// Resolves a path whose last component may not exist yet, or cannot be examined.
    public static func resolvedOrParent(_ path: String) throws(Errno) -> String {
        do throws(Errno) {
            return try resolved(path)
        } catch .illegalByteSequence { throw .illegalByteSequence } catch {
            guard let name = path.pathNames.last else { throw error }
            let above = try resolved(path.parentPath)
            return above == "/" ? "/\(name)" : "\(above)/\(name)"
        }
    }

    /// Resolves the path of a file that open(2) may create. Also follows a link whose target does not exist yet.
    public static func resolvedOrCreated(_ path: String) throws(Errno) -> String {
        var place = try resolvedOrParent(path)
        var links = 0
        while true {
            let link: [CChar]
            do throws(Errno) { link = try readLink(at: AT_FDCWD, place) } catch { return place }
            links += 1
            guard links <= FileDescriptor.mostLinks else { throw Errno(ELOOP) }
            guard let target = String(path: link.map(UInt8.init(bitPattern:))) else { throw .illegalByteSequence }
            let isAbsolute = target.utf8.first == UInt8(ascii: "/")
            place = try resolvedOrParent(isAbsolute ? target : "\(place.parentPath)/\(target)")
        }
    }

    /// Throws unless this process has the access `mode`: R_OK, W_OK, X_OK or F_OK.
    public static func checkAccess(_ path: String, _ mode: Int32) throws(Errno) {
        try SystemCall.done(.access) { shim_access(path, mode) }
    }

    /// Creates a directory of mode 0700 whose path is `prefix` and six random characters, and returns that path.
    public static func makeTemporaryDirectory(prefix: String) throws(Errno) -> String {
        var pattern = Array((prefix + "XXXXXX").utf8CString)
        try SystemCall.done(.mkdtemp) { shim_make_temporary_directory(&pattern) }
        let path = pattern.dropLast().map(UInt8.init(bitPattern:))
        guard let made = String(validating: path, as: UTF8.self) else { throw .illegalByteSequence }
        return made
    }

    /// Unmounts as root. With `detaching`, the mount disappears from its path at once, and ends as soon as nothing uses it.
    public static func unmount(_ path: String, detaching: Bool) throws(Errno) {
        try SystemCall.done(.umount2) { shim_unmount(path, detaching ? Int32(MNT_DETACH) : 0) }
    }

    /// Unmounts through fusermount3, the setuid program for ordinary users' FUSE mounts, and drops its messages. Returns
    /// whether that succeeded.
    public static func unmountAsUser(_ path: String, detaching: Bool) throws(Errno) -> Bool {
        let words = ["fusermount3", "-u", "-q"] + (detaching ? ["-z"] : []) + ["--", path]
        let pid = try spawnDetached("fusermount3", words, keepsMessages: false)
        return try wait(for: pid, blocking: true) == .exited(0)
    }

    /// Makes every call that waits for the daemon of a FUSE mount fail, and unmounts the mount unless it is in use (EBUSY).
    public static func unmountByForce(_ path: String) throws(Errno) {
        try SystemCall.done(.umount2) { shim_unmount(path, Int32(MNT_FORCE)) }
    }

    public static func changeDirectory(_ path: String) throws(Errno) {
        try SystemCall.done(.chdir) { shim_chdir(path) }
    }
}
