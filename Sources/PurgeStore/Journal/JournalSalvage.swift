import CSQLite
import PurgeModel

/// Copies what can still be read of a damaged journal into a new one.
struct JournalSalvage {
    private let old: Database
    private let new: Database

    /// The number of events that were copied. The journal `new` is made, one whole file when this returns.
    static func run(from old: String, to new: String) throws(DatabaseError) -> Int64 {
        let target = try JournalSchema.openForWriting(new)
        if let source = opened(old) {
            let salvage = JournalSalvage(old: source, new: target)
            try target.transaction { () throws(DatabaseError) in
                try salvage.copyEvents()
                try salvage.copyLastUses()
            }
        }
        // Out of WAL, so that the file stands alone and can be renamed.
        try target.execute("PRAGMA synchronous = FULL; PRAGMA journal_mode = DELETE")
        return try target.number("SELECT count(*) FROM events") ?? 0
    }

    /// nil where nothing is to be had.
    private static func opened(_ path: String) -> Database? {
        do {
            let database = try Database(path: path, flags: SQLITE_OPEN_READONLY)
            // Without this SQLite reads nothing of a file that is shorter than its header says.
            try database.execute("PRAGMA writable_schema = ON")
            return database
        } catch { return nil }
    }

    /// From both ends towards the damage: a bad page stops the way forward, not the way back.
    private func copyEvents() throws(DatabaseError) {
        let events = "SELECT \(EventRow.columns) FROM events"
        let insertion = try new.prepare(EventRow.insertion(orIgnore: true))
        var last = Int64.min
        let isWhole = try read("\(events) ORDER BY seq") { (row) throws(DatabaseError) in
            guard let event = try understood(row) else { return }
            try EventRow.insert(event, with: insertion)
            last = event.seq
        }
        if isWhole { return }
        _ = try read("\(events) WHERE seq > \(last) ORDER BY seq DESC") { (row) throws(DatabaseError) in
            if let event = try understood(row) { try EventRow.insert(event, with: insertion) }
        }
    }

    private func copyLastUses() throws(DatabaseError) {
        let insertion = try new.prepare(Journal.lastUseInsertion)
        _ = try read(Journal.lastUseSelection) { (row) throws(DatabaseError) in
            try Journal.insert(Journal.lastUse(row), with: insertion)
        }
    }

    /// nil for a row that holds no event: that row is lost, those after it are not.
    private func understood(_ row: borrowing Statement) throws(DatabaseError) -> Event? {
        do { return try EventRow.event(row) } catch let error where error.isDamage { return nil }
    }

    /// Whether the end was reached; the rows before the first that cannot be read have been given to `body`.
    private func read(
        _ sql: String, _ body: (borrowing Statement) throws(DatabaseError) -> Void
    ) throws(DatabaseError) -> Bool {
        let rows: Statement
        do { rows = try old.prepare(sql) } catch { return false }
        while true {
            do {
                if try !rows.step() { return true }
            } catch { return false }
            try body(rows)
        }
    }
}
