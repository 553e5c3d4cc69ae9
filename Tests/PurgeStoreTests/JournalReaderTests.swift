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

    /// The files of a writer that was killed are what is in the page cache at that moment.
    @Test func takesUpWhatAKilledWriterLeft() throws {
        let journal = try Journal.open(in: store)
        try journal.append(Self.events)
        try journal.saveLastUses([.init(inode: 9, birth: 8, lastUse: Instant(nanoseconds: 7))])
        let other = try Store.open(directory["killed"], creating: true)
        for part in ["", "-wal", "-shm"] {
            try directory.copy("s/journal.sqlite\(part)", to: "killed/journal.sqlite\(part)")
        }
        #expect(try JournalReader(storePath: directory["killed"]).events() == Self.events)
        let next = try Journal.open(in: other)
        #expect(next.lastSequence == 5)
        #expect(try next.lastUses() == [9: .init(inode: 9, birth: 8, lastUse: Instant(nanoseconds: 7))])
        try next.append([Event(seq: 6, type: .mount)])
        #expect(try JournalReader(storePath: directory["killed"]).events(.init(after: 4)).map(\.seq) == [5, 6])
    }

    @Test func losesOnlyTheUnfinishedPartOfAWriteThatWasCutOff() throws {
        let journal = try Journal.open(in: store)
        for event in Self.events { try journal.append([event]) }
        let other = try Store.open(directory["killed"], creating: true)
        try directory.copy("s/journal.sqlite", to: "killed/journal.sqlite")
        try directory.copy("s/journal.sqlite-wal", to: "killed/journal.sqlite-wal", dropping: 100)
        let next = try Journal.open(in: other)
        #expect(next.lastSequence == 4)
        #expect(try JournalReader(storePath: directory["killed"]).events() == Array(Self.events[..<4]))
    }
}
