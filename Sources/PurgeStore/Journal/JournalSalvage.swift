import CSQLite
import PurgeModel

/// Copies the readable rows of a damaged journal into a new one.
struct JournalSalvage {
    private let old: Database
    private let new: Database

    /// Creates the journal `new`, which is one complete file when this returns. Returns the number of events copied.
    static func run(from old: DatabasePlace, to new: DatabasePlace) throws(DatabaseError) -> Int64 {
        let target = try JournalSchema.openForWriting(new)
        if let source = opened(old) {
            let salvage = JournalSalvage(old: source, new: target)
            try target.transaction { () throws(DatabaseError) in
                try salvage.copyEvents()
                try salvage.copyLastUses()
                try salvage.copySamples()
            }
        }
        // Makes the file complete by itself, so that it can be renamed.
        try target.execute("PRAGMA journal_mode = DELETE")
        return try target.number("SELECT count(*) FROM events") ?? 0
    }

    /// Returns the number of the newest readable event; 0 if there is none.
    static func lastSequence(in place: DatabasePlace) -> Int64 {
        guard let old = opened(place), isTable("events", in: old) else { return 0 }
        // Half of the largest number leaves room for later events, however often a journal is replaced.
        let largest = EventRow.largestLast / 2
        do {
            return max(0, try old.number("SELECT max(seq) FROM events WHERE seq <= \(largest)") ?? 0)
        } catch { return lastBeforeDamage(in: old, upTo: largest) }
    }

    /// Returns the number of the last event before the first page that cannot be read; 0 if there is none.
    private static func lastBeforeDamage(in old: Database, upTo largest: Int64) -> Int64 {
        var last: Int64 = 0
        do {
            let rows = try old.prepare("SELECT seq FROM events WHERE seq BETWEEN 1 AND \(largest) ORDER BY seq")
            while try rows.step(), let seq = rows.number(0), seq > last { last = seq }
        } catch {}  // the rows after a bad page cannot be reached
        return last
    }

    /// Opens the old journal; returns nil if nothing can be read.
    private static func opened(_ place: DatabasePlace) -> Database? {
        do {
            let database = try JournalSchema.openAsItIs(place)
            // Without this, SQLite reads nothing from a file that is shorter than its header says.
            try database.execute("PRAGMA writable_schema = ON")
            return database
        } catch { return nil }
    }

    /// Copies events from both ends towards the damage: a bad page blocks the way forward, but not the way back.
    private func copyEvents() throws(DatabaseError) {
        guard Self.isTable("events", in: old) else { return }
        let events = EventRow.selection
        let insertion = try new.prepare(EventRow.insertion(orIgnore: true))
        var last = Int64.min
        let isWhole = try read("\(events) ORDER BY seq") { (row) throws(DatabaseError) in
            guard let event = try understood(row) else { return true }
            guard event.seq > last else { return false }
            try EventRow.insert(event, with: insertion)
            last = event.seq
            return true
        }
        if isWhole { return }
        var first = Int64.max
        _ = try read("\(events) WHERE seq > \(last) ORDER BY seq DESC") { (row) throws(DatabaseError) in
            guard let event = try understood(row) else { return true }
            guard event.seq < first else { return false }
            try EventRow.insert(event, with: insertion)
            first = event.seq
            return true
        }
    }

    private func copyLastUses() throws(DatabaseError) {
        guard Self.isTable("last_uses", in: old) else { return }
        let insertion = try new.prepare(LastUseRow.insertion)
        var last: UInt64?
        _ = try read("\(LastUseRow.selection) ORDER BY inode") { (row) throws(DatabaseError) in
            let use = LastUseRow.lastUse(row)
            guard use.inode != last else { return false }
            try LastUseRow.insert(use, with: insertion)
            last = use.inode
            return true
        }
    }

    private func copySamples() throws(DatabaseError) {
        guard Self.isTable("samples", in: old) else { return }
        let insertion = try new.prepare(SampleRow.insertion)
        var last = Int64.min
        var count: Int64 = 0
        _ = try read("\(SampleRow.selection) ORDER BY id") { (row) throws(DatabaseError) in
            guard let id = row.number(10), id > last, count < JournalRoom.mostSamples else { return false }
            last = id
            guard let sample = try understoodSample(row) else { return true }
            try SampleRow.insert(sample, with: insertion)
            count += 1
            return true
        }
    }

    private func understoodSample(_ row: borrowing Statement) throws(DatabaseError) -> StorageSample? {
        do { return try SampleRow.sample(row) } catch let error where error.isDamage { return nil }
    }

    /// Returns the event in a row. Returns nil for a row that is not an event, or whose number is so high that a journal could
    /// not continue. Only that row is lost, not the rows after it.
    private func understood(_ row: borrowing Statement) throws(DatabaseError) -> Event? {
        do {
            let event = try EventRow.event(row)
            return event.seq <= EventRow.largestLast ? event : nil
        } catch let error where error.isDamage { return nil }
    }

    /// Whether the name belongs to a table. A view in its place may be endless.
    private static func isTable(_ name: String, in old: Database) -> Bool {
        do {
            return try old.number(
                "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '\(name)' AND rootpage > 0") == 1
        } catch { return false }
    }

    /// Passes rows to `body` until one cannot be read or `body` returns false. Returns whether it reached the end.
    private func read(
        _ sql: String, _ body: (borrowing Statement) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) -> Bool {
        let rows: Statement
        do { rows = try old.prepare(sql) } catch { return false }
        while true {
            do {
                if try !rows.step() { return true }
            } catch { return false }
            if try !body(rows) { return false }
        }
    }
}
