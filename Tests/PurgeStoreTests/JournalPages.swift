import Glibc
import PurgeSystem

@testable import PurgeStore

/// Returns the file offset of a leaf page of the events table, in the middle of the table.
func offsetOfAPageOfEvents(in path: String) throws -> Int64 {
    let page = try Database(path: path, flags: 1).number(  // SQLITE_OPEN_READONLY
        """
        SELECT pageno FROM dbstat WHERE name = 'events' AND pagetype = 'leaf' ORDER BY path
        LIMIT 1 OFFSET (SELECT count(*) / 2 FROM dbstat WHERE name = 'events' AND pagetype = 'leaf')
        """)
    return ((page ?? 0) - 1) * 4096
}

extension Database {
    convenience init(path: String, flags: Int32) throws {
        let directory = try FileDescriptor.open(path.parentPath, O_RDONLY | O_DIRECTORY)
        try self.init(DatabasePlace(directory: directory, name: path.pathNames.last ?? path), flags: flags)
    }
}
