import Glibc

// The names are long because FoundationEssentials has internal members with shorter ones, which the compiler finds first
// where both modules are imported. PurgeStore imports FoundationEssentials in places, and uses st_mode instead of these
// members.
extension FileStatus {
    /// S_IFDIR, S_IFREG, ...
    public var kind: mode_t { st_mode & S_IFMT }
    public var isDirectoryFile: Bool { kind == S_IFDIR }
    public var isRegularFile: Bool { kind == S_IFREG }
    public var isLink: Bool { kind == S_IFLNK }
}
