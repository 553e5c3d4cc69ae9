import CSystemShims
import Glibc

/// Creates directories where another user can exchange names. mkdir(2) returns no descriptor, so the name may lead to
/// another directory by the time root opens it.
///
/// Until root has opened a new directory and found it empty, the directory has a mode that root's other directories hardly ever
/// have (01700). Where only root can exchange names, owner and mode are not checked, because not every file system keeps them
/// (vfat, NFS).
public enum NewDirectory {
    /// The directory may not be the one that was made, because its owner or mode differs from the request.
    public static let unproven = Errno(ENOTUNIQ)

    /// Creates a directory that only this user may enter. Throws ESTALE if the name now leads to something else, which is left
    /// untouched, and `unproven` if that cannot be determined.
    public static func make(_ name: CName, in parent: FileDescriptor) throws(Errno) -> FileDescriptor {
        try create(name, in: parent)
        return try opened(name, in: parent, mark: mark(in: parent))
    }

    /// Creates a directory for a caller that opens it itself and then calls `verify`.
    public static func create(_ name: CName, in parent: FileDescriptor) throws(Errno) {
        try System.makeDirectory(at: parent.raw, name, mode: 0o700 | mark(in: parent))
    }

    /// Accepts a directory that `create` made, or throws the errors of `make`.
    public static func verify(_ made: FileDescriptor, named name: CName, in parent: FileDescriptor) throws(Errno) {
        try withdrawing(name, in: parent) { () throws(Errno) in
            try verify(made, in: parent, mark: mark(in: parent))
        }
    }

    /// Creates a directory whose path begins with `prefix`, and returns its path too.
    public static func makeTemporary(prefix: String) throws(Errno) -> (path: String, directory: FileDescriptor) {
        let path = try System.makeTemporaryDirectory(prefix: prefix)
        let parent = try FileDescriptor.open(path.parentPath, System.openPath | O_DIRECTORY)
        return (path, try opened(path.pathNames.last ?? path, in: parent, mark: 0))
    }

    private static func opened(
        _ name: CName, in parent: FileDescriptor, mark: mode_t
    ) throws(Errno) -> FileDescriptor {
        try withdrawing(name, in: parent) { () throws(Errno) in
            let found = try parent.open(name, O_RDONLY | O_DIRECTORY)
            try verify(found, in: parent, mark: mark)
            return found
        }
    }

    private static func withdrawing<Value>(
        _ name: CName, in parent: FileDescriptor, _ body: () throws(Errno) -> Value
    ) throws(Errno) -> Value {
        do throws(Errno) { return try body() } catch {
            if [.stale, .noEntry, .notDirectory, Errno(ELOOP)].contains(error) { throw .stale }
            // Only an empty directory can be removed by this name, and the owner of `parent` could remove that anyway.
            do throws(Errno) { try System.removeDirectory(at: parent.raw, name) } catch {}
            throw error
        }
    }

    private static func verify(_ found: FileDescriptor, in parent: FileDescriptor, mark: mode_t) throws(Errno) {
        guard try found.open(".", O_RDONLY | O_DIRECTORY).names().isEmpty else { throw .stale }
        if isTrusted(parent) { return }
        let status = try System.status(found.raw)
        guard isOwn(status), geteuid() != 0 || status.st_mode & S_ISVTX == mark else { throw unproven }
        if mark != 0 { try System.changeMode(found.raw, status.st_mode & 0o7777 & ~mark) }
    }

    private static func mark(in parent: FileDescriptor) -> mode_t {
        geteuid() == 0 && !isTrusted(parent) ? S_ISVTX : 0
    }

    /// Returns whether only root can exchange names in the directory.
    private static func isTrusted(_ parent: FileDescriptor) -> Bool { geteuid() == 0 && parent.keepsNamesOfAll }

    /// Returns whether the directory belongs to this user and, for root, has mode 0700, so that nobody else can change its
    /// content. Some file systems give every directory the same mode, so for an ordinary user the mode does not count.
    public static func isOwn(_ directory: FileDescriptor) throws(Errno) -> Bool {
        try isOwn(System.status(directory.raw))
    }

    private static func isOwn(_ status: FileStatus) -> Bool {
        status.st_uid == geteuid() && (geteuid() != 0 || status.st_mode & 0o777 == 0o700)
    }
}

extension System {
    /// Whether this process is root over other users' files; false for root of a user namespace.
    public static var isRoot: Bool {
        guard geteuid() == 0 else { return false }
        // USER_NS_INIT_INO of <linux/nsfs.h>.
        do throws(Errno) { return try status(ofPath: "/proc/self/ns/user").st_ino == 0xEFFF_FFFD } catch { return true }
    }

    /// As root, creates a directory that belongs to `owner` from the beginning, so no later chown by name is needed. If root
    /// cannot create it as that user (a user namespace, a quota, a container without CAP_SETPCAP or CAP_SETUID), or for any
    /// other caller, the directory belongs to the current user.
    public static func makeDirectory(
        at dir: Int32, _ name: CName, mode: mode_t, for owner: uid_t, _ group: gid_t
    ) throws(Errno) {
        guard geteuid() == 0 else { return try makeDirectory(at: dir, name, mode: mode) }
        do throws(Errno) {
            try SystemCall.done(.mkdirat) { shim_mkdirat_as(dir, name, mode, owner, group) }
        } catch Errno(EDQUOT), Errno(EOVERFLOW), .accessDenied, .notPermitted {
            try makeDirectory(at: dir, name, mode: mode)
        }
    }
}
