import PurgeModel
import Testing

@testable import PurgeStore

struct JournalTests {
    let directory: TemporaryDirectory
    let store: Store
    init() throws {
        directory = try TemporaryDirectory()
        store = try Store.open(directory["store"], creating: true)
    }

    static func purge(seq: Int64) -> Event {
        Event(
            seq: seq, time: "2026-11-21T09:30:00.123Z", type: .purge, path: "tmp/a", tier: .temporary,
            bytes: ByteCount(8192), reason: "temporary", trigger: .importantWrite, pid: 4242)
    }
    static let purge = purge(seq: 1)

    @Test func beginsEmpty() throws {
        let journal = try Journal.open(in: store)
        #expect(journal.lastSequence == 0)
        #expect(try journal.lastUses().isEmpty)
    }

    @Test func remembersTheLastSequence() throws {
        do {
            let journal = try Journal.open(in: store)
            try journal.append([Self.purge, Event(seq: 2, type: .unmount)])
            #expect(journal.lastSequence == 2)
            journal.close()
        }
        #expect(try Journal.open(in: store).lastSequence == 2)
        #expect(directory.names(in: "store") == ["container", "journal.sqlite"])
    }

    @Test func keepsEveryMember() throws {
        let event = Event(
            seq: 2, time: "t", type: .purge, path: "tmp/a", tier: .caches, pid: 8, cause: "c", tombstone: true, to: "d",
            process: "cp", lastUse: "u", pressure: .veryLow, realTime: "r",
            passedOver: [PassedOver(path: "e\"é", reason: .open, pid: 9, process: "cat")])
        try Journal.open(in: store).append([event])
        #expect(try JournalReader(storePath: directory["store"]).events() == [event])
    }

    @Test func takesAllEventsOfACallOrNone() throws {
        let journal = try Journal.open(in: store)
        try journal.append([Self.purge])
        let tooLong = Event(seq: 3, type: .mark, path: String(repeating: "x", count: 2 << 20))
        let error = try storeError { try journal.append([Event(seq: 2, type: .mount), tooLong]) }
        #expect(error.path == directory["store/journal.sqlite"])
        #expect(journal.lastSequence == 1)
        try journal.append([Event(seq: 2, type: .unmount)])
        #expect(journal.lastSequence == 2)
        #expect(try JournalReader(storePath: directory["store"]).events().map(\.type) == [.purge, .unmount])
    }

    /// The disk may fail in the last step of a commit, after the events are stored. The journal then receives them again.
    @Test func takesEventsThatAreThereAlready() throws {
        let journal = try Journal.open(in: store)
        try journal.append([Self.purge])
        try Database(path: directory["store/journal.sqlite"], flags: 2).execute(  // SQLITE_OPEN_READWRITE
            "INSERT INTO events(seq, time, type, path) VALUES(2, 't', 'removed', 'a')")
        let removed = Event(seq: 2, time: "t", type: .removed, path: "a")
        try journal.append([removed, Event(seq: 3, time: "t", type: .unmount)])
        let reader = try JournalReader(storePath: directory["store"])
        #expect(try reader.events() == [Self.purge, removed, Event(seq: 3, time: "t", type: .unmount)])
        #expect(try reader.events(.init(.at("a"))) == [removed])
        try journal.withDatabase { (database) throws(DatabaseError) in try JournalSchema.checkContent(of: database) }
    }

    @Test func refusesWorkOnceClosed() throws {
        let journal = try Journal.open(in: store)
        journal.close()
        journal.close()
        let error = try storeError { try journal.append([Self.purge]) }
        #expect(error.what == "the journal failed: it has been closed")
    }

    @Test func keepsLastUsesToTheNanosecond() throws {
        let old = Journal.LastUse(inode: .max, birth: 17, lastUse: Instant(nanoseconds: 1_763_717_400_123_456_789))
        let new = Journal.LastUse(inode: 12, birth: 0, lastUse: Instant(nanoseconds: -5))
        do {
            let journal = try Journal.open(in: store)
            try journal.saveLastUses([
                Journal.LastUse(inode: 12, birth: 9, lastUse: Instant(nanoseconds: 1)), old,
            ])
            try journal.saveLastUses([new])
        }
        let journal = try Journal.open(in: store)
        #expect(try journal.lastUses() == [.max: old, 12: new])
        try journal.forgetLastUses(of: [12, 13])
        #expect(try journal.lastUses() == [.max: old])
    }
}

extension TemporaryDirectory {
    /// Creates a directory with a store `s`, whose journal has 5000 events and one last use.
    static func withJournal() throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        let journal = try Journal.open(in: try Store.open(directory["s"], creating: true))
        try journal.append((1...5000).map { JournalTests.purge(seq: $0) })
        try journal.saveLastUses([.init(inode: 9, birth: 8, lastUse: Instant(nanoseconds: 7))])
        journal.close()
        return directory
    }
}
