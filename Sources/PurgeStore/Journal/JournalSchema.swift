import CSQLite

/// The tables of journal.sqlite, and what tells a journal from another database.
enum JournalSchema {
    static let fileName = "journal.sqlite"
    /// Of the tables, in `PRAGMA user_version`.
    static let version: Int64 = 1
    /// "PFSJ", in `PRAGMA application_id`.
    static let application: Int64 = 0x5046_534A

    private static let tables = """
        CREATE TABLE events(
            seq INTEGER PRIMARY KEY, time TEXT NOT NULL, type TEXT NOT NULL, path TEXT, tier TEXT,
            bytes INTEGER, reason TEXT, trigger TEXT, pid INTEGER);
        CREATE TABLE last_uses(inode INTEGER PRIMARY KEY, birth INTEGER NOT NULL, last_use INTEGER NOT NULL);
        PRAGMA application_id = \(application);
        PRAGMA user_version = \(version);
        """

    /// A writer's connection, its tables made if the file is new.
    static func openForWriting(_ path: String) throws(DatabaseError) -> Database {
        let database = try Database(path: path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        // Reading comes first: setting the mode would write to a file that is not ours.
        if try isEmpty(database) {
            try database.execute("PRAGMA journal_mode = WAL")
            try database.transaction { () throws(DatabaseError) in
                if try isEmpty(database) { try database.execute(tables) }
            }
        }
        try checkVersion(of: database)
        try database.execute(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304")
        return database
    }

    /// Also while another process writes; nil where that has made no tables yet.
    static func openForReading(_ path: String) throws(DatabaseError) -> Database? {
        let database = try Database(path: path, flags: SQLITE_OPEN_READONLY)
        if try isEmpty(database) { return nil }
        try checkVersion(of: database)
        return database
    }

    static func checkVersion(of database: Database) throws(DatabaseError) {
        guard try database.number("PRAGMA application_id") == application else {
            throw DatabaseError(code: SQLITE_NOTADB, message: "it is a database, but not a journal of purgefs")
        }
        let found = try database.number("PRAGMA user_version") ?? 0
        guard found <= version else {
            throw DatabaseError(
                code: DatabaseError.newerVersion,
                message: "was written by a newer purgefs (format \(found); this one knows \(version))")
        }
        try checkTables(of: database)
    }

    /// Reads the whole file.
    static func checkIntegrity(of database: Database) throws(DatabaseError) {
        let report = try database.prepare("PRAGMA integrity_check(1)")
        guard try report.step(), let first = report.text(0) else { return }
        if first != "ok" { throw DatabaseError(code: SQLITE_CORRUPT, message: first) }
    }

    private static func checkTables(of database: Database) throws(DatabaseError) {
        let tables = "SELECT count(*) FROM sqlite_schema WHERE name IN ('events', 'last_uses')"
        guard try database.number(tables) == 2 else {
            throw DatabaseError(code: SQLITE_CORRUPT, message: "a table is missing")
        }
    }

    static func isEmpty(_ database: Database) throws(DatabaseError) -> Bool {
        try database.number("SELECT count(*) FROM sqlite_schema") == 0
    }
}
