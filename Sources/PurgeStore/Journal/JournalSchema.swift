import CSQLite

/// The tables of journal.sqlite, and the numbers that distinguish a journal from any other database.
enum JournalSchema {
    static let fileName = "journal.sqlite"
    /// The name of the rollback journal that SQLite keeps beside the file.
    static let rollbackName = fileName + "-journal"
    /// The name of a write-ahead log, which a journal never has.
    static let logName = fileName + logPart
    static let logPart = "-wal"
    /// The version of the tables, in `PRAGMA user_version`.
    static let version: Int64 = 4
    /// "PFSJ", in `PRAGMA application_id`.
    static let application: Int64 = 0x5046_534A

    /// A table or index, with the SQL text that SQLite stores for it.
    private struct Object {
        let kind: String
        let name: String
        let sql: String
    }
    private static let objects = [
        Object(
            kind: "table", name: "events",
            sql: """
                CREATE TABLE events(
                    seq INTEGER PRIMARY KEY, time TEXT NOT NULL, type TEXT NOT NULL, path TEXT, tier TEXT,
                    bytes INTEGER, reason TEXT, trigger TEXT, pid INTEGER, cause TEXT, tombstone INTEGER, target TEXT
                """ + ", process TEXT, last_use TEXT, pressure TEXT, real_time TEXT, passed_over TEXT)"),
        Object(
            kind: "table", name: "last_uses",
            sql: "CREATE TABLE last_uses(inode INTEGER PRIMARY KEY, birth INTEGER NOT NULL, last_use INTEGER NOT NULL)"),
        Object(
            kind: "index", name: "events_path",
            sql: "CREATE INDEX events_path ON events(path) WHERE path IS NOT NULL"),
        Object(
            kind: "index", name: "events_target",
            sql: "CREATE INDEX events_target ON events(target) WHERE target IS NOT NULL"),
        // Events about the whole container. There are few, and each may have removed every file.
        Object(
            kind: "index", name: "events_whole",
            sql: "CREATE INDEX events_whole ON events(type) WHERE path IS NULL"),
        Object(
            kind: "table", name: "samples",
            sql: "CREATE TABLE samples(id INTEGER PRIMARY KEY, \(sampleColumns))"),
    ]
    private static let sampleColumns =
        "time TEXT NOT NULL, real_time TEXT NOT NULL, total INTEGER NOT NULL, others INTEGER NOT NULL, "
        + "others_purgeable INTEGER NOT NULL, used INTEGER NOT NULL, temporary INTEGER NOT NULL, "
        + "caches INTEGER NOT NULL, persistent INTEGER NOT NULL, pressure TEXT NOT NULL"

    private static let tables =
        objects.map { "\($0.sql); " }.joined()
        + "PRAGMA application_id = \(application); PRAGMA user_version = \(version)"

    /// The pragmas for writing. They choose a rollback journal, because the index of a write-ahead log is a mapped file. A page
    /// of the index that the disk cannot provide (Btrfs full or at its quota, a dying disk) would end the daemon with SIGBUS.
    /// The rollback journal is kept between transactions (PERSIST), so that a commit neither creates nor removes a file.
    private static func writing(durably: Bool) -> String {
        """
        PRAGMA journal_mode = PERSIST; PRAGMA synchronous = \(durably ? "FULL" : "OFF"); \
        PRAGMA journal_size_limit = 4194304
        """
    }

    /// Opens a writer's connection, and creates the tables if the file is new. Without `durably`, writes survive the end of
    /// this process, but not a crash of the machine.
    static func openForWriting(
        _ place: DatabasePlace, patience: Int32 = 5000, durably: Bool = true
    ) throws(DatabaseError) -> Database {
        try openOrMake(place, patience: patience, durably: durably).database
    }

    /// Does the same as `openForWriting`, and also returns whether this call created the tables, which then need
    /// no check.
    static func openOrMake(
        _ place: DatabasePlace, patience: Int32, durably: Bool
    ) throws(DatabaseError) -> (database: Database, isNew: Bool) {
        let writing = writing(durably: durably)
        let database = try Database(
            place, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, patience: patience)
        var isNew = false
        // Read first: setting the mode would write to a file that may not be ours.
        if try isEmpty(database) {
            // Incremental vacuum lets pages return to the disk when the journal is to shrink. The pragma writes the first page,
            // which need not be on disk before the tables.
            try database.execute("PRAGMA synchronous = OFF; PRAGMA auto_vacuum = INCREMENTAL")
            try database.execute(writing)
            try database.transaction { () throws(DatabaseError) in
                guard try isEmpty(database) else { return }
                try database.execute(tables)
                isNew = true
            }
        }
        if !isNew {
            try checkVersion(of: database)
            try database.execute(writing)
        }
        return (database, isNew)
    }

    /// Opens a reader's connection, even while another process writes; returns nil if no process has made the tables yet.
    /// Changes nothing, except that SQLite rolls back a change that a killed writer left half done.
    static func openForReading(_ place: DatabasePlace) throws(DatabaseError) -> Database? {
        let database = try openAsItIs(place)
        if try isEmpty(database) { return nil }
        try checkVersion(of: database)
        return database
    }

    /// Opens the database for reading, without checking its tables. A read-only connection cannot roll back a change left half
    /// done; in that case, this opens a writable one.
    static func openAsItIs(_ place: DatabasePlace) throws(DatabaseError) -> Database {
        let database = try Database(place, flags: SQLITE_OPEN_READONLY)
        do {
            _ = try isEmpty(database)
            return database
        } catch let error where error.code == SQLITE_READONLY {
            let database = try Database(place, flags: SQLITE_OPEN_READWRITE)
            try database.execute("PRAGMA query_only = ON")
            return database
        } catch let error where error.code == SQLITE_BUSY {
            throw error  // the next read would wait just as long again
        } catch { return database }  // the next read gets the same error
    }

    static func checkVersion(of database: Database) throws(DatabaseError) {
        guard try database.number("PRAGMA application_id") == application else {
            throw DatabaseError.foreign("is a database of another program, not a journal of purgefs")
        }
        let found = try database.number("PRAGMA user_version") ?? 0
        guard found <= version else {
            throw DatabaseError(
                code: DatabaseError.newerVersion,
                message: "was written by a newer purgefs (format \(found); this one knows \(version))")
        }
        guard found == version else {
            throw DatabaseError(code: SQLITE_CORRUPT, message: "it has the unknown format \(found)")
        }
        try checkTables(of: database)
    }

    /// Checks the integrity of the whole file, and parses all events and samples.
    static func checkContent(of database: Database) throws(DatabaseError) {
        try checkIntegrity(of: database)
        _ = try EventRow.lastSequence(in: database)
        let rows = try database.prepare("\(EventRow.selection) ORDER BY seq")
        while try rows.step() { _ = try EventRow.event(rows) }
        _ = try SampleRow.samples(from: database)
    }

    /// Runs SQLite's integrity check, which reads the whole file.
    static func checkIntegrity(of database: Database) throws(DatabaseError) {
        let report = try database.prepare("PRAGMA integrity_check(1)")
        guard try report.step(), let first = report.text(0) else { return }
        if first != "ok" { throw DatabaseError(code: SQLITE_CORRUPT, message: first) }
    }

    /// Checks that every table and index of purgefs exists as purgefs makes it, and that there are no other indices and no
    /// triggers. A view in a table's place may be endless, and a trigger or an index expression may do anything.
    private static func checkTables(of database: Database) throws(DatabaseError) {
        for object in objects where try !has(object, database) {
            throw DatabaseError(
                code: SQLITE_CORRUPT, message: "the \(object.kind) \(object.name) is missing, or is not one of purgefs")
        }
        guard try database.number("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'") == 0 else {
            throw DatabaseError(code: SQLITE_CORRUPT, message: "it has triggers, which no journal has")
        }
        let indices = objects.filter { $0.kind == "index" }.count
        guard try database.number("SELECT count(*) FROM sqlite_schema WHERE type = 'index'") == Int64(indices) else {
            throw DatabaseError(code: SQLITE_CORRUPT, message: "it has an index that is not one of purgefs")
        }
    }

    private static func has(_ object: Object, _ database: Database) throws(DatabaseError) -> Bool {
        let found = try database.text(
            "SELECT sql FROM sqlite_schema WHERE type = '\(object.kind)' AND name = '\(object.name)' AND rootpage > 0")
        // SQLite puts quotes around a name that was changed and changed back.
        return found?.filter { $0 != "\"" } == object.sql
    }

    static func isEmpty(_ database: Database) throws(DatabaseError) -> Bool {
        try database.number("SELECT count(*) FROM sqlite_schema") == 0
    }
}
