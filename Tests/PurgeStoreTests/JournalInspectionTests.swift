import Glibc
import PurgeModel
import PurgeSystem
import Testing

@testable import PurgeStore

struct JournalInspectionTests {
    let directory: TemporaryDirectory
    init() throws { directory = try TemporaryDirectory.withJournal() }

    private func problems(repairing: Bool = false) throws -> [StoreProblem] {
        try StoreInspection.run(directory["s"], repairing: repairing).problems
    }
    private func damage(at offset: Int64, count: Int = 4096) throws {
        let file = try FileDescriptor.open(directory["s/journal.sqlite"], O_RDWR)
        let noise = [UInt8](repeating: 0xA5, count: count)
        _ = try noise.withUnsafeBytes { try System.pwrite(file.raw, $0, offset: offset) }
    }
    private func sequences() throws -> [Int64] { try JournalReader(storePath: directory["s"]).events().map(\.seq) }

    @Test func startsAnewWhereNothingCanBeRead() throws {
        try damage(at: 0, count: 100)
        let bytes = try FileDescriptor.open(directory["s/journal.sqlite"], O_RDONLY).readAll()
        let opening = try storeError { _ = try Journal.open(in: try Store.open(directory["s"], creating: false)) }
        #expect(opening.what == "the journal is damaged: file is not a database")
        #expect(
            opening.advice
                == "Run `purgefs check --repair \(directory["s"])`: it keeps the file aside and starts a new journal "
                + "with the events that can still be read.")
        let found = try problems()
        #expect(found.map(\.path) == [directory["s/journal.sqlite"]])
        #expect(found.map(\.isRepairable) == [true])
        #expect(try FileDescriptor.open(directory["s/journal.sqlite"], O_RDONLY).readAll() == bytes)

        #expect(
            try problems(repairing: true).map(\.repair)
                == [
                    "The damaged journal is now `journal.sqlite.damaged-1`; 0 events could be read and are in the new one."
                ])
        #expect(try FileDescriptor.open(directory["s/journal.sqlite.damaged-1"], O_RDONLY).readAll() == bytes)
        #expect(try problems() == [])
        #expect(try Journal.open(in: try Store.open(directory["s"], creating: false)).lastSequence == 0)
    }

    @Test func copiesWhatLiesBeforeAndBehindABadPage() throws {
        try damage(at: try offsetOfAPageOfEvents(in: directory["s/journal.sqlite"]))
        #expect(try problems().map(\.isRepairable) == [true])
        _ = try problems(repairing: true)
        #expect(try problems() == [])
        let kept = try sequences()
        #expect(kept.first == 1)
        #expect(kept.last == 5000)
        #expect(kept.count > 4800 && kept.count < 5000)
        #expect(kept == kept.sorted())
        let journal = try Journal.open(in: try Store.open(directory["s"], creating: false))
        #expect(journal.lastSequence == 5000)
        #expect(try journal.lastUses() == [9: .init(inode: 9, birth: 8, lastUse: Instant(nanoseconds: 7))])
    }

    @Test func copiesTheBeginningOfACutFile() throws {
        let file = try FileDescriptor.open(directory["s/journal.sqlite"], O_RDWR)
        try System.truncate(file.raw, 65536)
        _ = try problems(repairing: true)
        #expect(try problems() == [])
        let kept = try sequences()
        #expect(kept.first == 1)
        #expect(kept.count > 100)
    }

    @Test func dropsARowThatHoldsNoEvent() throws {
        try change("UPDATE events SET type = 'nonsense' WHERE seq = 17")
        #expect(try problems().map(\.what) == ["the journal is damaged: event 17 cannot be understood"])
        _ = try problems(repairing: true)
        #expect(try sequences() == Array(1...16) + Array(18...5000))
    }

    @Test func keepsAForeignDatabaseAside() throws {
        try change("PRAGMA application_id = 1")
        let error = try storeError { _ = try Journal.open(in: try Store.open(directory["s"], creating: false)) }
        #expect(error.what == "is a database of another program, not a journal of purgefs")
        #expect(
            error.advice
                == "It was not changed. Move it out of the store, or run `purgefs check --repair \(directory["s"])`, "
                + "which renames it and starts a new journal.")
        #expect(
            try problems(repairing: true).map(\.repair) == [
                "It is now `journal.sqlite.foreign-1`; 5000 events of purgefs could be read in it and are in the new journal."
            ])
        #expect(try sequences() == Array(1...5000))
    }

    /// SQLite would replay the write-ahead log of the foreign database.
    @Test func leavesTheLogOfAForeignDatabase() throws {
        try directory.removeFile("s/journal.sqlite")
        do {
            let other = try Database(path: directory["s/journal.sqlite.other"], flags: 6)  // READWRITE, CREATE
            try other.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES(1)")
            for part in ["", "-wal"] {
                try directory.copy("s/journal.sqlite.other\(part)", to: "s/journal.sqlite\(part)")
            }
        }
        func content(_ name: String) throws -> [UInt8] { try FileDescriptor.open(directory[name], O_RDONLY).readAll() }
        let before = (try content("s/journal.sqlite"), try content("s/journal.sqlite-wal"))
        let error = try storeError {
            _ = try Journal.open(in: try Store.open(directory["s"], creating: false), replacingDamaged: true)
        }
        #expect(error.what == "is a database of another program, not a journal of purgefs")
        #expect(try content("s/journal.sqlite") == before.0 && content("s/journal.sqlite-wal") == before.1)
        _ = try problems(repairing: true)
        #expect(try content("s/journal.sqlite.foreign-1") == before.0)
        #expect(try content("s/journal.sqlite.foreign-1-wal") == before.1)
        #expect(try problems() == [])
    }

    /// However often the journal is damaged, foreign databases are not removed.
    @Test func neverRemovesWhatIsNotOurs() throws {
        func content(_ name: String) throws -> [UInt8] { try FileDescriptor.open(directory[name], O_RDONLY).readAll() }
        for number in 1...5 {
            try directory.removeFile("s/journal.sqlite")
            try Database(path: directory["s/journal.sqlite"], flags: 6).execute(  // READWRITE, CREATE
                "CREATE TABLE events(a); INSERT INTO events VALUES(\(number))")
            let before = try content("s/journal.sqlite")
            let error = try storeError {
                _ = try Journal.open(in: try Store.open(directory["s"], creating: false), replacingDamaged: true)
            }
            #expect(error.what == "is a database of another program, not a journal of purgefs")
            #expect(try content("s/journal.sqlite") == before)
            _ = try problems(repairing: true)
            try damage(at: 0, count: 100)
            _ = try problems(repairing: true)
            #expect(try content("s/journal.sqlite.foreign-\(number)") == before)
        }
        #expect(directory.names(in: "s").count { $0.hasPrefix("journal.sqlite.foreign-") } == 5)
        #expect(directory.names(in: "s").count { $0.hasPrefix("journal.sqlite.damaged-") } == 3)
    }

    @Test func leavesAJournalOfANewerVersion() throws {
        try change("PRAGMA user_version = 5")
        let error = try storeError { _ = try Journal.open(in: try Store.open(directory["s"], creating: false)) }
        #expect(error.what == "the journal was written by a newer purgefs (format 5; this one knows 4)")
        #expect(try problems(repairing: true).map(\.repair) == [nil])
        #expect(!directory.exists("s/journal.sqlite.damaged-1"))
    }

    @Test func movesTheWriteAheadLogWithIt() throws {
        try damage(at: 0, count: 100)
        try directory.write("log", to: "s/journal.sqlite-wal")
        _ = try problems(repairing: true)
        #expect(try directory.read("s/journal.sqlite.damaged-1-wal") == "log")
        #expect(try problems() == [])
    }

    @Test func clearsAwayWhatAKilledRepairLeft() throws {
        try damage(at: 0, count: 100)
        try directory.write("half", to: "s/journal.sqlite.new")
        _ = try problems(repairing: true)
        #expect(!directory.exists("s/journal.sqlite.new"))
        #expect(try problems() == [])
    }

    @Test func dropsTheOldestBeyondItsCapacity() throws {
        let store = try Store.open(directory["s"], creating: false)
        let journal = try Journal.open(in: store, capacity: 1000)
        try journal.append((5001...5009).map { JournalTests.purge(seq: $0) })
        #expect(try sequences().first == 1)
        try journal.append([JournalTests.purge(seq: 5010)])
        #expect(try sequences() == Array(4011...5010))
        journal.close()
        #expect(try Journal.open(in: store).lastSequence == 5010)
    }

    private func change(_ sql: String) throws {
        try Database(path: directory["s/journal.sqlite"], flags: 2).execute(sql)  // SQLITE_OPEN_READWRITE
    }
}
