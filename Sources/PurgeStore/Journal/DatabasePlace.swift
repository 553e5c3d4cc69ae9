import Glibc
import PurgeSystem

/// A database file in an open directory. SQLite knows only paths, and appends a suffix to the database's path for each file
/// beside it. Here the path begins with the number of the directory's descriptor, which `DatabaseFiles` parses again. So it does
/// not matter where the directory's name leads.
struct DatabasePlace: Sendable {
    private static let prefix = "/descriptor/"

    /// A database in memory, without a file.
    static let memory = DatabasePlace(directory: nil, name: ":memory:")

    let directory: FileDescriptor?
    let name: String

    /// The path for SQLite, which means nothing to the kernel.
    var path: String { directory.map { "\(Self.prefix)\($0.raw)/\(name)" } ?? name }

    /// Parses a path that `path` returned, or that SQLite derived from one; returns nil for any other path. For the directory
    /// itself the name is nil.
    static func parts(of path: CName) -> (directory: Int32, name: CName?)? {
        guard strncmp(path, prefix, prefix.utf8.count) == 0 else { return nil }
        var end: UnsafeMutablePointer<CChar>?
        let number = Int32(truncatingIfNeeded: strtol(path + prefix.utf8.count, &end, 10))
        guard let end else { return nil }
        return (number, end.pointee == 0 ? nil : CName(end + 1))
    }
}
