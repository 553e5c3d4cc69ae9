import CSQLite

/// The tables of journal.sqlite, and what tells a journal from another database.
enum JournalSchema {
    static let fileName = "journal.sqlite"
    /// Of SQLite's rollback journal, beside it.
    static let rollbackName = fileName + "-journal"
    /// Of the tables, in `PRAGMA user_version`.
    static let version: Int64 = 2
    /// "PFSJ", in `PRAGMA application_id`.
    static let application: Int64 = 0x5046_534A

    private static let eventsTable = """
        CREATE TABLE events(
            seq INTEGER PRIMARY KEY, time TEXT NOT NULL, type TEXT NOT NULL, path TEXT, tier TEXT,
            bytes INTEGER, reason TEXT, trigger TEXT, pid INTEGER, cause TEXT)
        """
    /// Of the first format. What `upgrade` makes of it is `eventsTable`, to the letter.
    private static let firstEventsTable = eventsTable.dropLast(", cause TEXT)".count) + ")"
    private static let upgrade = "ALTER TABLE events ADD COLUMN cause TEXT; PRAGMA user_version = \(version)"
    private static let lastUsesTable =
        "CREATE TABLE last_uses(inode INTEGER PRIMARY KEY, birth INTEGER NOT NULL, last_use INTEGER NOT NULL)"
    private static let tables = """
        \(eventsTable); \(lastUsesTable);
        PRAGMA application_id = \(application);
        PRAGMA user_version = \(version);
        """

    /// A rollback journal, and no write-ahead log: that one's index is a mapped file, and a page of it that the
    /// disk under the store cannot give (Btrfs full or at its quota, a dying disk) would end the daemon with SIGBUS.
    /// It is kept between transactions (PERSIST), so that a commit makes and removes no file.
    private static let writing = """
        PRAGMA journal_mode = PERSIST; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 4194304
        """

    /// A writer's connection, its tables made if the file is new.
    static func openForWriting(_ path: String, patience: Int32 = 5000) throws(DatabaseError) -> Database {
        let database = try Database(
            path: path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, patience: patience)
        // In this mode SQLite maps no index of a write-ahead log that an older version left.
        try database.execute("PRAGMA locking_mode = EXCLUSIVE")
        // Reading comes first: setting the mode would write to a file that is not ours.
        if try isEmpty(database) {
            try database.execute(writing)
            try database.transaction { () throws(DatabaseError) in
                if try isEmpty(database) { try database.execute(tables) }
            }
        }
        try checkVersion(of: database)
        try database.execute(writing)
        if try isOfFirstFormat(database) {
            try database.transaction { () throws(DatabaseError) in try database.execute(upgrade) }
        }
        // Readers beside the daemon are let in; the lock goes with the next reading.
        try database.execute("PRAGMA locking_mode = NORMAL")
        _ = try isEmpty(database)
        return database
    }

    /// Also while another process writes; nil where that has made no tables yet. Nothing is changed but what a
    /// writer left half done when it was killed, which SQLite takes back.
    static func openForReading(_ path: String) throws(DatabaseError) -> Database? {
        let database = try openAsItIs(path)
        if try isEmpty(database) { return nil }
        try checkVersion(of: database)
        return database
    }

    /// For reading. A change that was left half done cannot be taken back by a connection that only reads.
    static func openAsItIs(_ path: String) throws(DatabaseError) -> Database {
        let database = try Database(path: path, flags: SQLITE_OPEN_READONLY)
        do {
            _ = try isEmpty(database)
            return database
        } catch let error where error.code == SQLITE_READONLY {
            let database = try Database(path: path, flags: SQLITE_OPEN_READWRITE)
            try database.execute("PRAGMA query_only = ON")
            return database
        } catch { return database }  // who reads on gets the same error
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

    /// What stands behind the names must be the tables themselves: a view may be without end, and a trigger
    /// may do anything.
    private static func checkTables(of database: Database) throws(DatabaseError) {
        let events = try isOfFirstFormat(database) ? String(firstEventsTable) : eventsTable
        for (name, sql) in [("events", events), ("last_uses", lastUsesTable)]
        where try !isTable(name, madeBy: sql, in: database) {
            throw DatabaseError(code: SQLITE_CORRUPT, message: "the table \(name) is missing, or another than ours")
        }
        guard try database.number("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'") == 0 else {
            throw DatabaseError(code: SQLITE_CORRUPT, message: "it has triggers, which no journal has")
        }
    }

    private static func isOfFirstFormat(_ database: Database) throws(DatabaseError) -> Bool {
        try database.number("PRAGMA user_version") == 1
    }

    private static func isTable(_ name: String, madeBy sql: String, in database: Database) throws(DatabaseError) -> Bool
    {
        let found = try database.text(
            "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = '\(name)' AND rootpage > 0")
        // SQLite puts quotes around a name that was changed and changed back.
        return found?.filter { $0 != "\"" } == sql
    }

    static func isEmpty(_ database: Database) throws(DatabaseError) -> Bool {
        try database.number("SELECT count(*) FROM sqlite_schema") == 0
    }
}
