import Glibc
import PurgeSystem

/// The file of a database, in a directory that is open. SQLite only knows paths, and what is beside a database it opens,
/// examines and removes by paths that begin with the database's; here they begin with the number of the descriptor, and
/// `DatabaseFiles` takes them apart again. So it does not matter where the directory's own name leads.
struct DatabasePlace: Sendable {
    private static let prefix = "/descriptor/"

    /// No file at all.
    static let memory = DatabasePlace(directory: nil, name: ":memory:")

    let directory: FileDescriptor?
    let name: String

    /// Not a path of the kernel's.
    var path: String { directory.map { "\(Self.prefix)\($0.raw)/\(name)" } ?? name }

    /// The directory and the name of such a path, or of what SQLite has made of it; nil for any other. The name of the
    /// directory itself is nil.
    static func parts(of path: CName) -> (directory: Int32, name: CName?)? {
        guard strncmp(path, prefix, prefix.utf8.count) == 0 else { return nil }
        var end: UnsafeMutablePointer<CChar>?
        let number = Int32(truncatingIfNeeded: strtol(path + prefix.utf8.count, &end, 10))
        guard let end else { return nil }
        return (number, end.pointee == 0 ? nil : CName(end + 1))
    }
}
