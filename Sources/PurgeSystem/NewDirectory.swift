import CSystemShims
import Glibc

/// Directories that root makes where another user can exchange names: mkdir(2) returns no descriptor, so the name may lead
/// to another directory by the time that it is opened.
public enum NewDirectory {
    /// Makes a directory that is this user's alone. ESTALE if the name leads to something else by now, which was not
    /// touched.
    public static func make(_ name: CName, in parent: FileDescriptor) throws(Errno) -> FileDescriptor {
        try System.makeDirectory(at: parent.raw, name, mode: 0o700)
        return try opened(name, in: parent)
    }

    /// The same with a name that begins with `prefix`, and its path.
    public static func makeTemporary(prefix: String) throws(Errno) -> (path: String, directory: FileDescriptor) {
        let path = try System.makeTemporaryDirectory(prefix: prefix)
        let parent = try FileDescriptor.open(path.parentPath, System.openPath | O_DIRECTORY)
        return (path, try opened(path.pathNames.last ?? path, in: parent))
    }

    private static func opened(_ name: CName, in parent: FileDescriptor) throws(Errno) -> FileDescriptor {
        do throws(Errno) {
            let found = try parent.open(name, O_RDONLY | O_DIRECTORY)
            guard try isNew(found) else { throw .stale }
            return found
        } catch {
            if [.stale, .noEntry, .notDirectory, Errno(ELOOP)].contains(error) { throw .stale }
            // By this name only an empty directory can go, which the owner of `parent` could remove too.
            do throws(Errno) { try System.removeDirectory(at: parent.raw, name) } catch {}
            throw error
        }
    }

    /// Whether it can be one that this user has just made: nothing is in it, and nobody else can put something there.
    public static func isNew(_ directory: FileDescriptor) throws(Errno) -> Bool {
        guard try isOwn(directory) else { return false }
        return try directory.open(".", O_RDONLY | O_DIRECTORY).names().isEmpty
    }

    /// Whether it belongs to this user, and, for root, nobody else may enter it: then nobody else changes what is in it.
    /// Some file systems give every directory the same mode; what an ordinary user makes there is accepted.
    public static func isOwn(_ directory: FileDescriptor) throws(Errno) -> Bool {
        let status = try System.status(directory.raw)
        return status.st_uid == geteuid() && (geteuid() != 0 || status.st_mode & 0o777 == 0o700)
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
    /// away by a name. If it cannot be made as that user (a user namespace, a quota), it is this user's.
    public static func makeDirectory(
        at dir: Int32, _ name: CName, mode: mode_t, for owner: uid_t, _ group: gid_t
    ) throws(Errno) {
        guard geteuid() == 0 else { return try makeDirectory(at: dir, name, mode: mode) }
        do throws(Errno) {
            try SystemCall.done(.mkdirat) { shim_mkdirat_as(dir, name, mode, owner, group) }
        } catch Errno(EDQUOT), Errno(EOVERFLOW) { try makeDirectory(at: dir, name, mode: mode) }
    }
}

extension FileDescriptor {
    /// What is at a path from the root or from `folder` (O_PATH), which leads through no symbolic link: ELOOP or ENOTDIR if
    /// one was put there since the path was resolved.
    public static func openWithoutLinks(
        _ path: some Collection<UInt8>, from folder: FileDescriptor? = nil
    ) throws(Errno) -> FileDescriptor {
        var found: FileDescriptor
        if let folder { found = folder } else { found = try open("/", System.openPath | O_DIRECTORY) }
        for name in path.split(separator: UInt8(ascii: "/")) {
            found = try found.open(name.map(CChar.init(bitPattern:)) + [0], System.openPath)
        }
        guard try System.status(found.raw).st_mode & S_IFMT != S_IFLNK else { throw Errno(ELOOP) }
        return found
    }

    /// A file that a user has named for output. Where others can exchange names, root follows no symbolic link: it may
    /// lead to any file, which would be emptied.
    public static func openOutput(_ path: String, _ flags: Int32) throws(Errno) -> FileDescriptor {
        let flags = flags | O_WRONLY | O_CREAT
        guard System.isRoot, let name = path.pathNames.last, name != ".", name != "..",
            path.utf8.last != UInt8(ascii: "/")
        else { return try open(path, flags, mode: 0o644) }
        let folder = try open(path.parentPath, System.openPath | O_DIRECTORY)
        let status = try System.status(folder.raw)
        if status.st_uid == 0, status.st_mode & 0o022 == 0 {
            return FileDescriptor(adopting: try System.open(at: folder.raw, name, flags | O_CLOEXEC, mode: 0o644))
        }
        return try folder.open(name, flags, mode: 0o644)
    }
}
