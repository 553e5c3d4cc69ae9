import CSQLite
import PurgeSystem

/// One connection to SQLite; closed when its last owner releases it. Not to be used by two threads at once.
final class Database {
    private let handle: OpaquePointer
    /// SQLite opens files beside the database at any time, by this descriptor's number.
    private let directory: FileDescriptor?
    /// When the current step is given up (System.uptime).
    private let deadline = UnsafeMutablePointer<Int64>.allocate(capacity: 1)

    /// No text or blob of a journal is longer; the texts of an event are cut well below that.
    private static let longestValue: Int32 = 1 << 20
    /// 20 s for one step of a statement: only a damaged or malicious journal takes longer.
    private static let stepTime: Int64 = 20_000_000_000

    /// Links are never followed. `patience` is how many milliseconds to wait for another connection's lock.
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
        // A reader may lock the file for a moment while it recovers what a killed writer left.
        sqlite3_busy_timeout(handle, patience)
        // Nothing is mapped, since a page that the disk cannot provide would end the process. Nothing is left in /tmp.
        try execute("PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF")
    }

    deinit {
        sqlite3_close_v2(handle)
        deadline.deallocate()
    }

    /// The next step begins: its time starts now.
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

    /// The first column of the first row as a number; nil if there is no row.
    func number(_ sql: String) throws(DatabaseError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.number(0) : nil
    }

    func text(_ sql: String) throws(DatabaseError) -> String? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.text(0) : nil
    }

    /// Commits all of it or, if `body` throws, nothing.
    func transaction(_ body: () throws(DatabaseError) -> Void) throws(DatabaseError) {
        try execute("BEGIN IMMEDIATE")
        do {
            try body()
            try execute("COMMIT")
        } catch {
            // After some errors SQLite has rolled back by itself.
            if sqlite3_get_autocommit(handle) == 0 { try execute("ROLLBACK") }
            throw error
        }
    }
}
