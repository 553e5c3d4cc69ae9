import CSystemShims
import Glibc

/// Directories that root makes where another user can exchange names: mkdir(2) returns no descriptor, so the name may lead
/// to another directory by the time that it is opened.
///
/// Until root has opened a new directory and found it empty, it has a mode that others of root's hardly ever have (01700).
/// Where only root can exchange names nothing is to be proved: not every file system keeps owners and modes (vfat, NFS).
public enum NewDirectory {
    /// The directory may be the one that was made or another one: its owner or mode is not the one that was asked for.
    public static let unproven = Errno(ENOTUNIQ)

    /// Makes a directory that is this user's alone. ESTALE if the name leads to something else by now, which was not
    /// touched; `unproven` if nobody can tell.
    public static func make(_ name: CName, in parent: FileDescriptor) throws(Errno) -> FileDescriptor {
        try create(name, in: parent)
        return try opened(name, in: parent, mark: mark(in: parent))
    }

    /// Makes it for a caller that opens it and hands it to `verify`.
    public static func create(_ name: CName, in parent: FileDescriptor) throws(Errno) {
        try System.makeDirectory(at: parent.raw, name, mode: 0o700 | mark(in: parent))
    }

    /// Accepts what `create` has made, or throws what `make` does.
    public static func verify(_ made: FileDescriptor, named name: CName, in parent: FileDescriptor) throws(Errno) {
        try withdrawing(name, in: parent) { () throws(Errno) in
            try verify(made, in: parent, mark: mark(in: parent))
        }
    }

    /// Makes one whose name begins with `prefix`, and returns its path too.
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
            // By this name only an empty directory can go, which the owner of `parent` could remove too.
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

    /// Whether only root can exchange names in it.
    private static func isTrusted(_ parent: FileDescriptor) -> Bool { geteuid() == 0 && parent.keepsNamesOfAll }

    /// Whether it belongs to this user, and, for root, nobody else may enter it: then nobody else changes what is in it.
    /// Some file systems give every directory the same mode; what an ordinary user makes there is accepted.
    public static func isOwn(_ directory: FileDescriptor) throws(Errno) -> Bool {
        try isOwn(System.status(directory.raw))
    }

    private static func isOwn(_ status: FileStatus) -> Bool {
        status.st_uid == geteuid() && (geteuid() != 0 || status.st_mode & 0o777 == 0o700)
    }
}

extension System {
    /// Whether this process may change the files of other users: not as root of a user namespace.
    public static var isRoot: Bool {
        guard geteuid() == 0 else { return false }
        // USER_NS_INIT_INO of <linux/nsfs.h>.
        do throws(Errno) { return try status(ofPath: "/proc/self/ns/user").st_ino == 0xEFFF_FFFD } catch { return true }
    }

    /// A directory that belongs to `owner` from the beginning, where root may make one for others. So nothing need be given
    /// away by a name. If it cannot be made as that user (a user namespace, a quota, a container without CAP_SETPCAP or
    /// CAP_SETUID), it is this user's.
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
