import Glibc
import PurgeModel
import PurgeSystem
import Testing

@testable import PurgeStore

/// Journals that earlier versions have made: they are read as they are, and a writer brings them up to date.
struct JournalFormatTests {
    let directory: TemporaryDirectory
    let store: Store
    init() throws {
        directory = try TemporaryDirectory()
        store = try Store.open(directory["s"], creating: true)
    }

    static let firstColumns = """
        seq INTEGER PRIMARY KEY, time TEXT NOT NULL, type TEXT NOT NULL, path TEXT, tier TEXT,
            bytes INTEGER, reason TEXT, trigger TEXT, pid INTEGER
        """
    struct Format: Sendable {
        let number: Int
        /// Columns and values of later formats.
        let columns: String
        let event: Event
    }
    static let formats = [
        Format(number: 1, columns: "", event: caused(nil, nil)),
        Format(number: 2, columns: ", cause TEXT", event: caused("b", nil)),
        Format(number: 3, columns: ", cause TEXT, tombstone INTEGER", event: caused("b", true)),
    ]
    static func caused(_ cause: String?, _ tombstone: Bool?) -> Event {
        Event(
            seq: 1, time: "t", type: .purge, path: "tmp/a", tier: .temporary, bytes: ByteCount(4096), reason: "r",
            trigger: .pressure, pid: 7, cause: cause, tombstone: tombstone)
    }
    static let newest = Event(
        seq: 2, time: "t", type: .purge, path: "tmp/a", tier: .caches, pid: 8, cause: "c", tombstone: true, to: "d",
        process: "cp", lastUse: "u", pressure: .veryLow, realTime: "r",
        passedOver: [PassedOver(path: "e\"é", reason: .open, pid: 9, process: "cat")])
    static let sample = StorageSample(
        time: "t", realTime: "r", total: ByteCount(1), others: ByteCount(2), othersPurgeable: ByteCount(3),
        used: ByteCount(4), temporary: ByteCount(5), caches: ByteCount(6), persistent: ByteCount(7), pressure: .nearLow)

    private func make(_ format: Format, more: String = "") throws -> Database {
        let database = try Database(path: directory["s/journal.sqlite"], flags: 6)  // SQLITE_OPEN_READWRITE | CREATE
        let values = [format.event.cause.map { "'\($0)'" }, format.event.tombstone.map { _ in "1" }].compactMap { $0 }
        try database.execute(
            """
            CREATE TABLE events(
                \(Self.firstColumns)\(format.columns));
            CREATE TABLE last_uses(inode INTEGER PRIMARY KEY, birth INTEGER NOT NULL, last_use INTEGER NOT NULL);
            PRAGMA application_id = \(0x5046_534A); PRAGMA user_version = \(format.number);
            INSERT INTO last_uses VALUES(9, 8, 7);
            INSERT INTO events VALUES(1, 't', 'purge', 'tmp/a', 'temporary', 4096, 'r', 'pressure', 7
                \(values.map { ", " + $0 }.joined())); \(more)
            """)
        return database
    }
    private var reader: JournalReader { get throws { try JournalReader(storePath: directory["s"]) } }

    @Test(arguments: formats) func isBroughtUpToDate(format: Format) throws {
        let old = try make(format)
        #expect(try reader.events() == [format.event])
        #expect(try reader.events(at: "tmp/a", limit: 5) == [format.event])
        #expect(try reader.events(to: "tmp/a", limit: 5) == [])
        #expect(try reader.samples() == [])
        #expect(try reader.events(.init(sinceReal: "")) == [])
        #expect(try store.place.inspectJournal(repairing: false) == nil)
        #expect(try old.number("PRAGMA user_version") == Int64(format.number))
        for _ in 0..<2 {
            let next = try Journal.open(in: store)
            if next.lastSequence == 1 {
                try next.append([Self.newest])
                try next.append([Self.sample])
            }
            next.close()
        }
        #expect(try reader.events() == [format.event, Self.newest])
        #expect(try reader.events(at: "tmp/a", limit: 5) == [Self.newest, format.event])
        #expect(try reader.events(to: "d", limit: 5) == [Self.newest])
        #expect(try reader.samples() == [Self.sample])
        #expect(try reader.lastUses() == [9: .init(inode: 9, birth: 8, lastUse: Instant(nanoseconds: 7))])
        #expect(try old.number("PRAGMA user_version") == 4)
        #expect(try store.place.inspectJournal(repairing: false) == nil)
    }

    /// An upgrade would work on it, or fail in the middle.
    @Test(arguments: [
        "CREATE TABLE samples(id)", "CREATE VIEW events_path AS SELECT 1", "CREATE INDEX other ON events(hex(path))",
        "CREATE INDEX events_target ON last_uses(birth)",
        "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM last_uses; END",
    ]) func whatDoesNotBelongThereIsRefused(sql: String) throws {
        let old = try make(Self.formats[2], more: sql)
        let error = try storeError { _ = try Journal.open(in: store) }
        #expect(error.what.hasPrefix("the journal is damaged: it has "))
        #expect(try old.number("PRAGMA user_version") == 3)
        #expect(try storeError { _ = try reader.events() }.what == error.what)
        _ = try store.place.inspectJournal(repairing: true)
        #expect(try reader.events() == [Self.formats[2].event])
        #expect(try store.place.inspectJournal(repairing: false) == nil)
    }
}
