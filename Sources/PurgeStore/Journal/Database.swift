import CSQLite

/// One connection to SQLite; closed when its last owner lets go. Not to be used by two threads at once.
final class Database {
    private let handle: OpaquePointer

    /// Links are never followed.
    init(path: String, flags: Int32) throws(DatabaseError) {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, nil)
        guard code == SQLITE_OK, let opened else {
            let error = DatabaseError(opened, code: code)
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        // A reader may hold the file for a moment while it recovers what a killed writer left.
        sqlite3_busy_timeout(handle, 5000)
    }

    deinit { sqlite3_close_v2(handle) }

    func execute(_ sql: String) throws(DatabaseError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError(handle, code: code) }
    }

    func prepare(_ sql: String) throws(DatabaseError) -> Statement { try Statement(self, handle, sql) }

    /// The first column of the first row as a number; nil where there is no row.
    func number(_ sql: String) throws(DatabaseError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.number(0) : nil
    }

    /// All of it or, when `body` throws, none.
    func transaction(_ body: () throws(DatabaseError) -> Void) throws(DatabaseError) {
        try execute("BEGIN IMMEDIATE")
        do {
            try body()
            try execute("COMMIT")
        } catch {
            // SQLite has rolled back by itself after some errors.
            if sqlite3_get_autocommit(handle) == 0 { try execute("ROLLBACK") }
            throw error
        }
    }
}
