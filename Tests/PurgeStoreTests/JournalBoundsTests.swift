import Glibc
import PurgeModel
import PurgeSystem
import Testing

@testable import PurgeStore

/// The bound on the journal's file, and the rows dropped to keep it.
struct JournalBoundsTests {
    let directory: TemporaryDirectory
    init() throws { directory = try TemporaryDirectory() }

    private func opened() throws -> Journal {
        try Journal.open(in: try Store.open(directory["s"], creating: true))
    }

    private static let smallest = JournalBounds(size: ByteCount(1 << 20))
    private var size: Int64 {
        get throws { Int64(try System.status(at: AT_FDCWD, directory["s/journal.sqlite"]).st_size) }
    }
    private var reader: JournalReader { get throws { try JournalReader(storePath: directory["s"]) } }
    private func events(_ numbers: ClosedRange<Int64>, name: Int = 40) -> [Event] {
        numbers.map {
            Event(
                seq: $0, time: "2026-11-21T09:30:00.000Z", type: .renamed,
                path: "Documents/\($0 * 7919 % 10007)" + String(repeating: "n", count: name), pid: 1,
                to: "Library/Caches/\($0)", process: "mv")
        }
    }

    /// The bound holds for small and large batches, and for short and long names.
    @Test(arguments: [(7, 40), (300, 40), (20_000, 40), (50, 4000), (400, 16_000)])
    func staysWithinItsSize(batch: Int64, name: Int) throws {
        var journal: Journal? = try opened()
        try journal?.keep(within: Self.smallest, at: Instant(nanoseconds: 0))
        let all: Int64 = name > 1000 ? 800 : batch == 7 ? 6000 : 40_000
        for first in stride(from: 1, through: all, by: Int(batch)) {
            let last = min(all, first + batch - 1)
            try journal?.append(events(first...last, name: name))
            guard try size <= 1 << 20 else {
                Issue.record("\(try size) bytes at \(last)")
                break
            }
        }
        let kept = try reader.events().map(\.seq)
        #expect(kept.last == all && (kept.first ?? 0) > 1)
        #expect(kept == Array((kept.first ?? 0)...all))
        #expect(kept.count > (name > 1000 ? 5 : 1500))
        journal?.close()
        journal = nil
        #expect(try StoreInspection.run(directory["s"], repairing: false).problems == [])
    }

    /// Last uses stay however small the bound is, and events still get half of it.
    @Test func eventsHaveRoomBesideLastUses() throws {
        let journal = try opened()
        let files: Int64 = 45_000
        let uses = (1...files).map {
            Journal.LastUse(inode: UInt64($0 * 7919), birth: .max - $0, lastUse: Instant(nanoseconds: .max - $0))
        }
        try journal.saveLastUses(uses)
        for first in stride(from: Int64(1), through: 4000, by: 50) {
            try journal.keep(within: Self.smallest, at: Instant(nanoseconds: 0))
            try journal.append(events(first...(first + 49)))
        }
        try journal.keep(within: Self.smallest, at: Instant(nanoseconds: 0))
        let kept = try reader.events().map(\.seq)
        #expect(kept.count > 1000 && kept.last == 4000)
        #expect(try journal.lastUses().count == uses.count)
        #expect(try size <= 1 << 19 + 40 * files)
        // Once the files are gone, the full bound applies again.
        try journal.forgetLastUses(of: uses.map(\.inode))
        try journal.append(events(4001...20_000))
        #expect(try size <= 1 << 20)
    }

    /// Samples get a quarter of a small bound.
    @Test func eventsHaveRoomBesideSamples() throws {
        let journal = try opened()
        try journal.append(Array(repeating: SampleTests.sample, count: 10_000))
        try journal.keep(within: Self.smallest, at: Instant(nanoseconds: 0))
        for first in stride(from: Int64(1), through: 4000, by: 50) {
            try journal.append(events(first...(first + 49)))
            try journal.append(Array(repeating: SampleTests.sample, count: 100))
        }
        let kept = try reader.events().map(\.seq)
        #expect(kept.count > 1500 && kept.last == 4000)
        let samples = try reader.samples().count
        #expect(samples > 1000 && samples <= 1638)
        #expect(try size <= 1 << 20)
    }

    /// Turning recording off drops nothing, not even events appended afterwards.
    @Test func recordingEnds() throws {
        let journal = try opened()
        try journal.append(events(1...3000))
        try journal.keep(within: JournalBounds(size: .zero), at: Instant(nanoseconds: 0))
        try journal.append([Event(seq: 3001, type: .capacity)])
        try journal.keep(within: JournalBounds(size: .zero), at: Instant(nanoseconds: 0))
        #expect(try reader.events().map(\.seq) == Array(1...3001))
    }

    /// A smaller bound shrinks the file.
    @Test func becomesShorter() throws {
        var journal: Journal? = try opened()
        try journal?.append(events(1...30_000))
        let before = try size
        #expect(before > 3 << 20)
        try journal?.keep(within: Self.smallest, at: Instant(nanoseconds: 0))
        #expect(try size <= 1 << 20)
        let kept = try reader.events().map(\.seq)
        #expect(kept.last == 30_000 && kept.count > 1500 && kept == Array((kept.first ?? 0)...30_000))
        // The index refers only to remaining events.
        let path = try #require(try reader.events(.init(limit: 1)).first?.path)
        #expect(try reader.events(.init(.at(path))).first?.path == path)
        journal?.close()
        journal = nil
        #expect(try StoreInspection.run(directory["s"], repairing: false).problems == [])
    }

    /// When nearly all events must go, separate transactions drop them: they stay gone although the next event is not written.
    @Test func whatIsOverTheBoundGoesInSteps() throws {
        let journal = try opened()
        try journal.withDatabase { (database) throws(DatabaseError) in
            try database.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
                INSERT INTO events(seq, time, type, path, real_time)
                SELECT i, '2026-11-21T09:30:00.000Z', 'removed', 'Documents/' || i, '2026-11-21T09:30:00.000Z' FROM n
                """)
        }
        try journal.keep(within: Self.smallest, at: Instant(nanoseconds: 0))
        let tooLong = Event(seq: 150_002, type: .mark, path: String(repeating: "x", count: 2 << 20))
        _ = try storeError { try journal.append([Event(seq: 150_001, type: .mark), tooLong]) }
        let kept = try reader.events().map(\.seq)
        #expect(kept.count > 1500 && kept.count < 15_000 && kept.last == 150_000)
    }

    @Test func eventsOverTheirAgeGo() throws {
        let journal = try opened()
        let days = (10...19).map { "2026-11-\($0)T12:00:00.000Z" }
        try journal.append((0..<10).map { Event(seq: Int64($0) + 1, time: days[$0], type: .mark) })
        var sample = SampleTests.sample
        sample.time = days[0]
        try journal.append([sample])
        sample.time = days[9]
        try journal.append([sample])
        // 2026-11-20T00:00:00Z
        let now = Instant(seconds: 1_795_132_800, nanoseconds: 0)
        #expect(now.iso8601 == "2026-11-20T00:00:00.000Z")
        try journal.keep(within: JournalBounds(size: .init(1 << 20)), at: now)
        #expect(try reader.events().count == 10)
        try journal.keep(within: JournalBounds(size: .init(1 << 20), age: TimeSpan(seconds: 3 * 86400)), at: now)
        #expect(try reader.events().map(\.time) == Array(days[7...]))
        #expect(try reader.samples().map(\.time) == [days[9]])
        #expect(journal.lastSequence == 10)
        try journal.append([Event(seq: 11, time: days[9], type: .mark)])
        #expect(try reader.events().map(\.seq) == [8, 9, 10, 11])
    }

    /// A file with a million events is cut down to its bound, and an index finds the events of a path.
    @Test func aMillionEvents() throws {
        let journal = try opened()
        let bounds = JournalBounds(size: ByteCount(64 << 20))
        try journal.keep(within: bounds, at: Instant(nanoseconds: 0))
        for part in 0..<10 {
            try journal.withDatabase { (database) throws(DatabaseError) in
                try database.execute(
                    """
                    WITH RECURSIVE n(i) AS (SELECT \(part * 100_000 + 1) UNION ALL
                        SELECT i + 1 FROM n WHERE i < \((part + 1) * 100_000))
                    INSERT INTO events(seq, time, type, path, pid, real_time)
                    SELECT i, '2026-11-21T09:30:00.000Z', 'removed', 'Documents/' || i, 7, '2026-11-21T09:30:00.000Z'
                    FROM n
                    """)
            }
        }
        #expect(try size > 64 << 20)
        for _ in 0..<20 { try journal.keep(within: bounds, at: Instant(nanoseconds: 0)) }
        try journal.append(events(1_000_001...1_005_000))
        #expect(try size <= 64 << 20)
        let reader = try reader
        #expect(try reader.events(.init(.at("Documents/1000000"))).map(\.seq) == [1_000_000])
        #expect(try reader.events(.init(.to("Library/Caches/1000001"))).map(\.seq) == [1_000_001])
        #expect(try reader.events(.init(.at("Documents/1"))) == [])
        let steps = try journal.withDatabase { (database) throws(DatabaseError) in
            let sql = "\(EventRow.selection) \(EventRow.condition(.init(.at(""))))"
            let rows = try database.prepare("EXPLAIN QUERY PLAN \(sql)")
            return try rows.step() ? rows.text(3) : nil
        }
        #expect(steps == "SEARCH events USING INDEX events_path (path=? AND rowid>? AND rowid<?)")
    }
}
