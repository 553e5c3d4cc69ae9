import Glibc
import PurgeSystem

@testable import PurgeStore

/// Where in the file of a journal a page in the middle of the events is, which has rows and is not one of an index.
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
