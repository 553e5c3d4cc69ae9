import CSQLite

/// The tables of journal.sqlite, and what distinguishes a journal from another database.
enum JournalSchema {
    static let fileName = "journal.sqlite"
    /// The name of SQLite's rollback journal beside it.
    static let rollbackName = fileName + "-journal"
    /// The version of the tables, in `PRAGMA user_version`.
    static let version = Int64(laterColumns.count + 1)
    /// "PFSJ", in `PRAGMA application_id`.
    static let application: Int64 = 0x5046_534A

    private static let firstColumns = """
        CREATE TABLE events(
            seq INTEGER PRIMARY KEY, time TEXT NOT NULL, type TEXT NOT NULL, path TEXT, tier TEXT,
            bytes INTEGER, reason TEXT, trigger TEXT, pid INTEGER
        """
    /// Each format after the first has one more.
    static let laterColumns = ["cause", "tombstone"]
    private static let laterDefinitions = ["cause TEXT", "tombstone INTEGER"]

    /// `upgrade` turns that of a format into exactly that of the newest.
    private static func eventsTable(ofFormat format: Int64) -> String {
        firstColumns + laterDefinitions.prefix(max(0, Int(format) - 1)).map { ", \($0)" }.joined() + ")"
    }

    private static func upgrade(from format: Int64) -> String {
        laterDefinitions.dropFirst(max(0, Int(format) - 1)).map { "ALTER TABLE events ADD COLUMN \($0); " }.joined()
            + "PRAGMA user_version = \(version)"
    }
    private static let lastUsesTable =
        "CREATE TABLE last_uses(inode INTEGER PRIMARY KEY, birth INTEGER NOT NULL, last_use INTEGER NOT NULL)"
    private static let tables = """
        \(eventsTable(ofFormat: version)); \(lastUsesTable);
        PRAGMA application_id = \(application);
        PRAGMA user_version = \(version);
        """

    /// A rollback journal and not a write-ahead log: the index of that is a mapped file, and a page of it that the
    /// disk under the store cannot provide (Btrfs full or at its quota, a dying disk) would end the daemon with SIGBUS.
    /// The rollback journal is kept between transactions (PERSIST), so that a commit neither makes nor removes a file.
    private static let writing = """
        PRAGMA journal_mode = PERSIST; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 4194304
        """

    /// A writer's connection; the tables are made if the file is new.
    static func openForWriting(_ path: String, patience: Int32 = 5000) throws(DatabaseError) -> Database {
        let database = try Database(
            path: path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, patience: patience)
        // In this mode SQLite does not map the index of a write-ahead log that an older version has left.
        try database.execute("PRAGMA locking_mode = EXCLUSIVE")
        // Read first: setting the mode would write to a file that may not be ours.
        if try isEmpty(database) {
            try database.execute(writing)
            try database.transaction { () throws(DatabaseError) in
                if try isEmpty(database) { try database.execute(tables) }
            }
        }
        try checkVersion(of: database)
        try database.execute(writing)
        let format = try format(of: database)
        if format < version {
            try database.transaction { () throws(DatabaseError) in try database.execute(upgrade(from: format)) }
        }
        // Lets readers in beside the daemon; the lock is released by the next read.
        try database.execute("PRAGMA locking_mode = NORMAL")
        _ = try isEmpty(database)
        return database
    }

    /// Works while another process writes; nil if that has not made the tables yet. Changes nothing, except that SQLite
    /// rolls back what a killed writer left half done.
    static func openForReading(_ path: String) throws(DatabaseError) -> Database? {
        let database = try openAsItIs(path)
        if try isEmpty(database) { return nil }
        try checkVersion(of: database)
        return database
    }

    /// For reading. A connection that only reads cannot roll back a change that was left half done.
    static func openAsItIs(_ path: String) throws(DatabaseError) -> Database {
        let database = try Database(path: path, flags: SQLITE_OPEN_READONLY)
        do {
            _ = try isEmpty(database)
            return database
        } catch let error where error.code == SQLITE_READONLY {
            let database = try Database(path: path, flags: SQLITE_OPEN_READWRITE)
            try database.execute("PRAGMA query_only = ON")
            return database
        } catch { return database }  // the next read gets the same error
    }

    static func checkVersion(of database: Database) throws(DatabaseError) {
        guard try database.number("PRAGMA application_id") == application else {
            throw DatabaseError(code: SQLITE_NOTADB, message: "it is a database, but not a journal of purgefs")
        }
        let found = try format(of: database)
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

    /// The names must be those of the tables themselves: a view may be endless, and a trigger may do anything.
    private static func checkTables(of database: Database) throws(DatabaseError) {
        let events = eventsTable(ofFormat: try format(of: database))
        for (name, sql) in [("events", events), ("last_uses", lastUsesTable)]
        where try !isTable(name, madeBy: sql, in: database) {
            throw DatabaseError(code: SQLITE_CORRUPT, message: "the table \(name) is missing, or is not one of purgefs")
        }
        guard try database.number("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'") == 0 else {
            throw DatabaseError(code: SQLITE_CORRUPT, message: "it has triggers, which no journal has")
        }
    }

    private static func format(of database: Database) throws(DatabaseError) -> Int64 {
        try database.number("PRAGMA user_version") ?? 0
    }

    private static func isTable(_ name: String, madeBy sql: String, in database: Database) throws(DatabaseError) -> Bool
    {
        let found = try database.text(
            "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = '\(name)' AND rootpage > 0")
        // SQLite quotes a name that was changed and changed back.
        return found?.filter { $0 != "\"" } == sql
    }

    static func isEmpty(_ database: Database) throws(DatabaseError) -> Bool {
        try database.number("SELECT count(*) FROM sqlite_schema") == 0
    }
}
