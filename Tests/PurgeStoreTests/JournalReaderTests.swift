import Glibc
import PurgeModel
import PurgeSystem
import Testing

@testable import PurgeStore

struct JournalReaderTests {
    let directory: TemporaryDirectory
    let store: Store
    init() throws {
        directory = try TemporaryDirectory()
        store = try Store.open(directory["s"], creating: true)
    }

    static let events = [
        Event(seq: 1, time: "2026-11-21T09:30:00.000Z", type: .mount, pid: 1),
        JournalTests.purge(seq: 2),
        Event(seq: 3, time: "2026-11-21T09:30:02.000Z", type: .pressure, reason: "low"),
        JournalTests.purge(seq: 4),
        Event(seq: 5, time: "2026-11-21T09:30:04.000Z", type: .refused, path: "é/\u{FFFD}", tier: .persistent),
    ]

    @Test func readsWhatAnotherConnectionHasWritten() throws {
        let journal = try Journal.open(in: store)
        try journal.append(Array(Self.events[..<2]))
        let reader = try JournalReader(storePath: directory["s"])
        #expect(try reader.events() == Array(Self.events[..<2]))
        try journal.append(Array(Self.events[2...]))
        #expect(try reader.events() == Self.events)
        journal.close()
        #expect(try reader.events() == Self.events)
        #expect(try JournalReader(storePath: directory["s"]).events() == Self.events)
    }

    /// A half-finished transaction is rolled back, even for a reader that was open before it.
    @Test func aWriterIsKilledBetweenTwoReads() throws {
        let journal = try Journal.open(in: store)
        try journal.append(Self.events)
        journal.close()
        let reader = try JournalReader(storePath: directory["s"])
        #expect(try reader.events() == Self.events)
        let files = ["journal.sqlite", "journal.sqlite-journal"].map { directory["s/" + $0] }
        do {
            let writer = try Database(path: files[0], flags: 2)  // SQLITE_OPEN_READWRITE
            try writer.execute(
                """
                PRAGMA journal_mode = PERSIST; PRAGMA cache_size = 1; BEGIN IMMEDIATE; DELETE FROM events; \
                CREATE TABLE filler AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) \
                SELECT randomblob(1000) FROM n
                """)
            let halfDone = try files.map { try FileDescriptor.open($0, O_RDONLY).readToEnd() }
            try writer.execute("ROLLBACK")
            for (file, content) in zip(files, halfDone) {
                try FileDescriptor.open(file, O_WRONLY).writeAll(content)
            }
        }
        #expect(try reader.events() == Self.events)
        #expect(try reader.lastSequence() == 5)
    }

    @Test func chooses() throws {
        let journal = try Journal.open(in: store)
        try journal.append(Self.events)
        let reader = try JournalReader(storePath: directory["s"])
        func numbers(_ filter: JournalReader.Filter) throws -> [Int64] { try reader.events(filter).map(\.seq) }
        #expect(try numbers(.init(after: 3)) == [4, 5])
        #expect(try numbers(.init(types: [.purge])) == [2, 4])
        #expect(try numbers(.init(types: [.purge, .refused])) == [2, 4, 5])
        #expect(try numbers(.init(after: 2, types: [.purge])) == [4])
        #expect(try numbers(.init(limit: 2)) == [1, 2])
        #expect(try numbers(.init(after: 1, types: [.purge, .mount], limit: 1)) == [2])
        #expect(try numbers(.init(limit: 0)) == [])
        #expect(try numbers(.init(after: 5)) == [])
    }

    @Test func choosesByTime() throws {
        let journal = try Journal.open(in: store)
        let times = [1, 2, 3, 4].map { "2026-11-2\($0)T09:30:00.000Z" }
        try journal.append(
            (1...4).map { Event(seq: $0, time: times[Int($0) - 1], type: $0 == 4 ? .mark : .purge) })
        let reader = try JournalReader(storePath: directory["s"])
        func numbers(_ filter: JournalReader.Filter) throws -> [Int64] { try reader.events(filter).map(\.seq) }
        #expect(try numbers(.init(since: times[1])) == [2, 3, 4])
        #expect(try numbers(.init(since: "2026-11-22T09:30:00.001Z")) == [3, 4])
        #expect(try numbers(.init(types: [.purge], since: times[1])) == [2, 3])
        #expect(try numbers(.init(after: 2, limit: 1, since: times[0])) == [3])
    }

    @Test func readsManyPagesInOrderAndStopsWhenTold() throws {
        let journal = try Journal.open(in: store)
        try journal.append((1...2500).map { Event(seq: $0, type: .mark) })
        let reader = try JournalReader(storePath: directory["s"])
        #expect(try reader.events().map(\.seq) == Array(1...2500))
        #expect(try reader.events(.init(after: 500, limit: 2000)).map(\.seq) == Array(501...2500))
        var seen: [Int64] = []
        try reader.visit { event in
            seen.append(event.seq)
            return seen.count < 1001
        }
        #expect(seen == Array(1...1001))
    }

    @Test func findsNothingBeforeTheFirstMount() throws {
        #expect(try JournalReader(storePath: directory["s"]).events() == [])
        try directory.write("", to: "s/journal.sqlite")
        #expect(try JournalReader(storePath: directory["s"]).events() == [])
    }

    @Test func refusesWhatIsNoStore() throws {
        try directory.makeDirectory("empty")
        for name in ["missing", "empty"] {
            let error = try storeError { _ = try JournalReader(storePath: directory[name]) }
            #expect(error.what.hasPrefix("there is no store here"))
            #expect(error.path == directory[name])
        }
    }

    @Test func tellsOfDamage() throws {
        try directory.write("not a database, but long enough to be looked at", to: "s/journal.sqlite")
        let error = try storeError { _ = try JournalReader(storePath: directory["s"]) }
        #expect(error.what == "the journal is damaged: file is not a database")
        #expect(error.path == directory["s/journal.sqlite"])
    }

    /// Copies the files as the page cache has them when a writer is killed. Here the writer is within a transaction that has
    /// outgrown SQLite's own cache.
    @Test func takesBackWhatAKilledWriterLeft() throws {
        let journal = try Journal.open(in: store)
        try journal.append(Self.events)
        try journal.saveLastUses([.init(inode: 9, birth: 8, lastUse: Instant(nanoseconds: 7))])
        try journal.withDatabase { (database) throws(DatabaseError) in
            try database.execute(
                """
                PRAGMA cache_size = 2; BEGIN IMMEDIATE;
                WITH RECURSIVE n(i) AS (SELECT 6 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
                INSERT INTO events(seq, time, type) SELECT i, 't', 'mark' FROM n
                """)
        }
        let other = try Store.open(directory["killed"], creating: true)
        for part in ["", "-journal"] {
            try directory.copy("s/journal.sqlite\(part)", to: "killed/journal.sqlite\(part)")
        }
        #expect(try JournalReader(storePath: directory["killed"]).events() == Self.events)
        let next = try Journal.open(in: other)
        #expect(next.lastSequence == 5)
        #expect(try next.lastUses() == [9: .init(inode: 9, birth: 8, lastUse: Instant(nanoseconds: 7))])
        try next.append([Event(seq: 6, type: .mount)])
        #expect(try JournalReader(storePath: directory["killed"]).events(.init(after: 4)).map(\.seq) == [5, 6])
    }

    /// A reader that ends a visit early has released its lock and does not block the writer.
    @Test func aReaderIsNotInTheWayForLong() throws {
        let journal = try Journal.open(in: store)
        try journal.append(Self.events)
        let reader = try JournalReader(storePath: directory["s"])
        try reader.visit(.init()) { event in
            event.seq < 3
        }
        try journal.append([Event(seq: 6, type: .mount)])
        #expect(try reader.events(.init(after: 5)).map(\.seq) == [6])
    }
}
