import Glibc

// Protects root in directories where other users can exchange names and make symbolic links.
extension FileDescriptor {
    /// Whether only root can exchange entries that root has created in this directory or in a directory above it.
    public var keepsNames: Bool {
        do throws(Errno) {
            let top = FileIdentity(try System.status(ofPath: "/"))
            var (path, below) = (".", FileIdentity?.none)
            while true {
                let status = try System.status(at: raw, path)
                let isShared = status.st_mode & 0o022 != 0 && status.st_mode & S_ISVTX == 0
                guard status.st_uid == 0, !isShared else { return false }
                let identity = FileIdentity(status)
                // A bind mount can show the root further down, where `..` leads up. Only at the top does `..` lead to itself.
                if identity == top, identity == below { return true }
                (path, below) = (path + "/..", identity)
            }
        } catch { return false }
    }

    /// Whether only root can exchange entries of any owner. A sticky bit is not enough, because other users can still
    /// exchange their own entries.
    public var keepsNamesOfAll: Bool {
        do throws(Errno) { return try System.status(raw).st_mode & 0o022 == 0 && keepsNames } catch { return false }
    }

    /// Opens (O_PATH) a path from the root or from `folder` without following symbolic links. Throws ELOOP or ENOTDIR if a
    /// component is a link, for example one that was put there after the path was resolved.
    public static func openWithoutLinks(
        _ path: some Collection<UInt8>, from folder: FileDescriptor? = nil
    ) throws(Errno) -> FileDescriptor {
        var found: FileDescriptor
        if let folder { found = folder } else { found = try root() }
        for name in path.split(separator: UInt8(ascii: "/")) {
            found = try found.open(name.map(CChar.init(bitPattern:)) + [0], System.openPath)
        }
        guard try !found.isLink else { throw Errno(ELOOP) }
        return found
    }

    /// Opens (O_PATH) a directory in which root will write, and returns it with its path without symbolic links. Throws ELOOP
    /// if the given path leads through a link that another user may have put there, because that can lead to any directory.
    public static func openTrusted(_ path: String) throws(Errno) -> (folder: FileDescriptor, path: String) {
        var resolved = path.utf8.first == UInt8(ascii: "/") ? "/" : try System.resolved(".")
        var folder = try openWithoutLinks(resolved.utf8)
        var (rest, links) = (Array(path.pathNames.reversed()), 0)
        while let name = rest.popLast() {
            let found = try folder.open(name, System.openPath)
            if try found.isLink {
                links += 1
                guard links <= mostLinks, try folder.isTrustedLink(found) else { throw Errno(ELOOP) }
                let bytes = try System.readLink(at: folder.raw, name).map(UInt8.init(bitPattern:))
                guard let target = String(path: bytes) else { throw .illegalByteSequence }
                rest += target.pathNames.reversed()
                if target.utf8.first == UInt8(ascii: "/") { (folder, resolved) = (try root(), "/") }
            } else {
                folder = found
                if name == ".." {
                    resolved = resolved.parentPath
                } else if name != "." {
                    resolved += (resolved == "/" ? "" : "/") + name
                }
            }
        }
        guard try System.status(folder.raw).isDirectoryFile else { throw .notDirectory }
        return (folder, resolved)
    }

    /// The kernel's limit on symbolic links in one path.
    static let mostLinks = 40

    private static func root() throws(Errno) -> FileDescriptor { try open("/", System.openPath | O_DIRECTORY) }

    private var isLink: Bool {
        get throws(Errno) { try System.status(raw).isLink }
    }

    private func isTrustedLink(_ link: FileDescriptor) throws(Errno) -> Bool {
        try System.status(link.raw).st_uid == 0 ? keepsNames : keepsNamesOfAll
    }

    /// Opens an output file that a user named. Where others can exchange names, root follows no symbolic link, because a link
    /// could lead to any file, which would be truncated.
    public static func openOutput(_ path: String, _ flags: Int32) throws(Errno) -> FileDescriptor {
        let flags = flags | O_WRONLY | O_CREAT
        guard System.isRoot, let name = path.pathNames.last, name != ".", name != "..",
            path.utf8.last != UInt8(ascii: "/")
        else { return try open(path, flags, mode: 0o644) }
        let folder = try openTrusted(path.parentPath).folder
        guard folder.keepsNamesOfAll else { return try folder.open(name, flags, mode: 0o644) }
        return FileDescriptor(adopting: try System.open(at: folder.raw, name, flags | O_CLOEXEC, mode: 0o644))
    }
}
