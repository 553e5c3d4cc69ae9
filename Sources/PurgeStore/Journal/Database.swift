import CSQLite
import PurgeSystem

/// A connection to SQLite, closed when its last owner releases it. Two threads must not use it at once.
final class Database {
    private let handle: OpaquePointer
    /// Kept open, because SQLite may at any time open files beside the database by this descriptor's number.
    private let directory: FileDescriptor?
    /// The value of System.uptime at which the current step is aborted.
    private let deadline = UnsafeMutablePointer<Int64>.allocate(capacity: 1)

    /// The size limit for any text or blob, in bytes. The strings of an event are cut to well below it.
    private static let longestValue: Int32 = 1 << 20
    /// The limit for one step of a statement, 20 s in nanoseconds. A step in a sound journal takes longer only on a very slow
    /// disk.
    private static let stepTime: Int64 = 20_000_000_000

    /// Opens a database without following links. `patience` is the time in milliseconds to wait for another connection's lock.
    init(_ place: DatabasePlace, flags: Int32, patience: Int32 = 5000) throws(DatabaseError) {
        directory = place.directory
        guard DatabaseFiles.registration == SQLITE_OK else { throw DatabaseError(nil, code: SQLITE_ERROR) }
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(
            place.path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, DatabaseFiles.name)
        guard code == SQLITE_OK, let opened else {
            let error = DatabaseError(opened, code: code)
            sqlite3_close_v2(opened)
            deadline.deallocate()
            throw error
        }
        handle = opened
        deadline.initialize(to: .max)
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Self.longestValue)
        sqlite3_progress_handler(
            handle, 100_000,
            { deadline in
                let deadline = deadline?.assumingMemoryBound(to: Int64.self).pointee ?? .max
                return System.uptime() > deadline ? 1 : 0
            }, deadline)
        // A reader locks the file for a moment, and longer while it rolls back the change of a killed writer.
        sqlite3_busy_timeout(handle, patience)
        // Nothing is mapped, since a page that the disk cannot provide would end the process. No temporary file is written to /tmp.
        try execute("PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF")
    }

    deinit {
        sqlite3_close_v2(handle)
        deadline.deallocate()
    }

    /// Restarts the time limit for the next step, and forgets an earlier lack of room.
    func beginStep() {
        deadline.pointee = System.uptime() + Self.stepTime
        DatabaseFiles.lackOfRoom.store(0, ordering: .relaxed)
    }

    func execute(_ sql: String) throws(DatabaseError) {
        beginStep()
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError(handle, code: code) }
    }

    func prepare(_ sql: String) throws(DatabaseError) -> Statement {
        beginStep()
        return try Statement(self, handle, sql)
    }

    /// Returns the first column of the first row as a number; nil if there is no row or the column is NULL.
    func number(_ sql: String) throws(DatabaseError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.number(0) : nil
    }

    func text(_ sql: String) throws(DatabaseError) -> String? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.text(0) : nil
    }

    /// Runs `body` in a transaction; rolls back if it throws.
    func transaction(_ body: () throws(DatabaseError) -> Void) throws(DatabaseError) {
        try execute("BEGIN IMMEDIATE")
        do {
            try body()
            try execute("COMMIT")
        } catch {
            // After some errors SQLite has already rolled back.
            if sqlite3_get_autocommit(handle) == 0 { try execute("ROLLBACK") }
            throw error
        }
    }
}
