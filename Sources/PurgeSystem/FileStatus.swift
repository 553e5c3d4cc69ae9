import Glibc

// FoundationEssentials has internal members of shorter names, which the compiler finds first where both are imported.
extension FileStatus {
    public var isDirectoryFile: Bool { st_mode & S_IFMT == S_IFDIR }
    public var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }
}
