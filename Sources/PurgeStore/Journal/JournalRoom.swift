import PurgeModel

/// Keeps a journal's file within its bounds. SQLite reuses free pages before the file grows, so only pages in use count.
struct JournalRoom {
    /// How many bytes of events are written between two checks of the page count: far less than the smallest journal.
    private static let batch: Int64 = 64 << 10
    /// How many events one step drops, each of which may change three pages.
    private static let step: Int64 = 500
    /// The most steps that one call of `shrink` or `dropEvents` takes. The next call continues.
    private static let steps = 200
    /// The most steps, of 1000 pages each, in which one call of `shrink` returns unused pages to the disk.
    private static let returns = 50
    /// Pages that the trees themselves may take in addition to a batch.
    private static let reserve: Int64 = 16
    /// The size in bytes of a last use (at most) and of a sample (roughly), each with its share of the tree.
    private static let lastUseBytes: Int64 = 40
    private static let sampleBytes: Int64 = 160
    /// The most samples that a journal of any size keeps.
    static let mostSamples: Int64 = 10_000

    private let database: Database
    private let size: ByteCount
    private let lastUses: Int64

    init(_ database: Database, size: ByteCount, lastUses: Int64) {
        (self.database, self.size, self.lastUses) = (database, size, lastUses)
    }

    /// How many samples may be kept: they take at most a quarter of the bound.
    private var sampleCapacity: Int64 {
        size > .zero ? min(Self.mostSamples, size.bytes / 4 / Self.sampleBytes) : Self.mostSamples
    }

    func add(_ samples: [StorageSample]) throws(DatabaseError) {
        let insertion = try database.prepare(SampleRow.insertion)
        for sample in samples { try SampleRow.insert(sample, with: insertion) }
        try thinOutSamples()
    }

    /// Drops every second sample of the older half as long as there are too many, so the distant past has fewer samples. The
    /// extremes stay, because a report states them for the whole time.
    private func thinOutSamples() throws(DatabaseError) {
        while try database.number("SELECT count(*) FROM samples") ?? 0 > sampleCapacity {
            try database.execute(
                """
                DELETE FROM samples WHERE id IN (
                    SELECT id FROM (
                        SELECT id, row_number() OVER (ORDER BY id) AS place FROM samples ORDER BY id
                        LIMIT (SELECT count(*) / 2 FROM samples)
                    ) WHERE place % 2 = 0)
                AND id NOT IN (
                    SELECT id FROM (SELECT id, max(used) FROM samples)
                    UNION ALL SELECT id FROM (SELECT id, max(total - others - used) FROM samples)
                    UNION ALL SELECT id FROM (SELECT id, min(total - others - used) FROM samples))
                """)
        }
    }

    /// Events for which room is made at once.
    struct Part {
        let events: ArraySlice<Event>
        /// An upper estimate of the room that the events take.
        let bytes: Int64
    }

    static func parts(of events: [Event]) -> [Part] {
        var parts: [Part] = []
        var (start, bytes) = (0, Int64.zero)
        for index in events.indices {
            let needed = events[index].bytesNeeded
            if bytes > 0, bytes + needed > batch {
                parts.append(Part(events: events[start..<index], bytes: bytes))
                (start, bytes) = (index, 0)
            }
            bytes += needed
        }
        parts.append(Part(events: events[start...], bytes: bytes))
        return parts
    }

    /// Drops the oldest events until `part` fits. A part fits into an empty journal of the smallest size, so this terminates. A
    /// size of 0 means that no more events are recorded; the existing ones stay.
    func make(for part: Part) throws(DatabaseError) {
        guard size > .zero else { return }
        let needed = part.bytes / (try pageSize()) + Self.reserve
        let most = try limit()
        while try used() + needed > most { if try dropOldest() == 0 { return } }
    }

    /// Drops the oldest events beyond `count`. Acts only once for each `count / 100` events added.
    func keep(_ count: Int64, before: Int64, last: Int64) throws(DatabaseError) {
        let step = max(1, count / 100)
        if before / step != last / step { try drop(upTo: last - count) }
    }

    /// Drops the oldest events and samples beyond the bound, and returns unused pages to the disk.
    func shrink() throws(DatabaseError) {
        try thinOutSamples()
        let most = try limit()
        for _ in 0..<Self.steps {
            if try used() <= most { break }
            if try dropOldest() == 0 { break }
        }
        for _ in 0..<Self.returns {
            let pages = try pages()
            if pages <= most { return }
            try database.execute("PRAGMA incremental_vacuum(1000)")
            if try self.pages() == pages { return }
        }
    }

    /// Drops events and samples with an earlier simulated time. Times rise with the numbers, except where the clock was set.
    func dropEvents(before time: String) throws(DatabaseError) {
        for _ in 0..<Self.steps {
            let first = try database.prepare("SELECT time FROM events ORDER BY seq LIMIT 1")
            guard try first.step(), let oldest = first.text(0), oldest < time else { break }
            first.reset()
            let rows = try database.prepare(
                "SELECT max(seq) FROM (SELECT seq, time FROM events ORDER BY seq LIMIT \(Self.step)) WHERE time < ?1")
            try rows.bind(time, 1)
            guard try rows.step(), let last = rows.number(0) else { break }
            rows.reset()
            try drop(upTo: last)
        }
        let deletion = try database.prepare("DELETE FROM samples WHERE time < ?1")
        try deletion.bind(time, 1)
        try deletion.run()
    }

    /// Drops one step of events. Returns how many.
    private func dropOldest() throws(DatabaseError) -> Int64 {
        let rows = try database.prepare(
            "SELECT count(*), max(seq) FROM (SELECT seq FROM events ORDER BY seq LIMIT \(Self.step))")
        guard try rows.step(), let count = rows.number(0), let last = rows.number(1) else { return 0 }
        rows.reset()
        try drop(upTo: last)
        return count
    }

    private func drop(upTo last: Int64) throws(DatabaseError) {
        let deletion = try database.prepare("DELETE FROM events WHERE seq <= ?1")
        try deletion.bind(last, 1)
        try deletion.run()
    }

    /// Returns the limit in pages. Last uses are never dropped, since the order of purging depends on them. Even if there are
    /// many, half of the bound is left for the rest.
    private func limit() throws(DatabaseError) -> Int64 {
        max(size.bytes, size.bytes / 2 + Self.lastUseBytes * lastUses) / (try pageSize())
    }
    private func used() throws(DatabaseError) -> Int64 {
        try pages() - (try database.number("PRAGMA freelist_count") ?? 0)
    }
    private func pages() throws(DatabaseError) -> Int64 { try database.number("PRAGMA page_count") ?? 0 }
    private func pageSize() throws(DatabaseError) -> Int64 {
        max(512, try database.number("PRAGMA page_size") ?? 4096)
    }
}

extension Event {
    /// An upper bound on the space that the event takes, including its index entries. A long text has pages of its own.
    fileprivate var bytesNeeded: Int64 {
        let texts = textBytes
        return 256 + 2 * texts + (texts > 1000 ? 4 * 4096 : 0)
    }

    private func length(_ text: String?) -> Int { text?.utf8.count ?? 0 }

    private var textBytes: Int64 {
        let texts = length(path) + length(to) + length(reason) + length(cause) + length(process)
        let times = time.utf8.count + length(lastUse) + length(realTime)
        let others = passedOver?.reduce(0) { $0 + 96 + 2 * $1.path.utf8.count } ?? 0
        return Int64(type.rawValue.utf8.count + texts + times + others)
    }
}
