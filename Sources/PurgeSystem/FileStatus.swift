import Glibc

// FoundationEssentials has internal members of shorter names, which the compiler finds first where both are imported. PurgeStore, which
// imports it in places, may find none of these: it looks at st_mode.
extension FileStatus {
    /// S_IFDIR, S_IFREG, ...
    public var kind: mode_t { st_mode & S_IFMT }
    public var isDirectoryFile: Bool { kind == S_IFDIR }
    public var isRegularFile: Bool { kind == S_IFREG }
    public var isLink: Bool { kind == S_IFLNK }
}
