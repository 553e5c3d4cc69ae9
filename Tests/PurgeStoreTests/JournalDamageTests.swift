import Glibc
import PurgeModel
import PurgeSystem
import Support
import Testing

@testable import PurgeStore

/// A mount sets a damaged journal aside and begins a new one.
struct JournalDamageTests {
    let directory: TemporaryDirectory
    init() throws { directory = try TemporaryDirectory.withJournal() }

    private var path: String { directory["s/journal.sqlite"] }
    private func content(_ name: String = "s/journal.sqlite") throws -> [UInt8] {
        try FileDescriptor.open(directory[name], O_RDONLY).readAll()
    }
    private func overwrite(_ name: String, at offset: Int, count: Int) throws {
        let file = try FileDescriptor.open(directory[name], O_RDWR)
        _ = try [UInt8](repeating: 0xA5, count: count).withUnsafeBytes {
            try System.pwrite(file.raw, $0, offset: Int64(offset))
        }
    }
    private func open() throws -> Journal {
        try Journal.open(in: try Store.open(directory["s"], creating: false), replacingDamaged: true)
    }
    private func events() throws -> [Int64] { try JournalReader(storePath: directory["s"]).events().map(\.seq) }

    @Test func aSoundJournalIsUsedAsItIs() throws {
        let journal = try open()
        #expect(journal.takeDamage().isEmpty && journal.lastSequence == 5000)
        #expect(directory.names(in: "s").filter { $0.contains("damaged") } == [])
    }

    enum Damage: CaseIterable, Sendable { case head, middle, cut, everything, row }
    private func damage(_ kind: Damage) throws {
        let file = try FileDescriptor.open(path, O_RDWR)
        let size = Int64(try System.status(file.raw).st_size)
        func overwrite(_ offset: Int64, _ count: Int) throws {
            var generator = SeededGenerator(seed: 1)
            let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            _ = try noise.withUnsafeBytes { try System.pwrite(file.raw, $0, offset: offset) }
        }
        switch kind {
        case .head: try overwrite(0, 100)
        case .middle: try overwrite(try offsetOfAPageOfEvents(in: path), 4096)
        case .cut: try System.truncate(file.raw, size / 8192 * 4096)
        case .everything: try overwrite(0, Int(size))
        case .row: try Database(path: path, flags: 2).execute("UPDATE events SET type = 'x' WHERE seq = 17")
        }
    }

    /// A mount that fails, or is killed before its first flush, loses neither the numbers nor the event about the damage.
    @Test func isRecordedAtOnce() throws {
        try damage(.middle)
        try open().close()
        let journal = try open()
        #expect(journal.takeDamage().isEmpty && journal.lastSequence == 5001)
        let found = try JournalReader(storePath: directory["s"]).events()
        #expect(found.map(\.seq) == [5001] && found.map(\.type) == [.dropped])
        #expect(found.first?.reason == "events of a damaged journal, which is now `journal.sqlite.damaged-1`")
        #expect(found.first?.time.isEmpty == false && found.first?.realTime != nil)
        journal.close()
    }

    /// The damaged file is kept unchanged, and the new one is writable.
    @Test(arguments: Damage.allCases) func isFoundWhenItIsOpened(kind: Damage) throws {
        try damage(kind)
        let before = try content()
        let journal = try open()
        let damage = try #require(journal.takeDamage().first)
        #expect(journal.takeDamage().isEmpty)
        #expect(damage.message.what.hasPrefix("the journal was damaged: ") && damage.message.path == path)
        #expect(
            damage.message.advice.hasPrefix(
                "The damaged journal is now `journal.sqlite.damaged-1`, and a new one was started."))
        #expect(damage.lack == nil)
        #expect(try content("s/journal.sqlite.damaged-1") == before)
        // Readers know the earlier numbers, so the new journal continues after the last one that can be read.
        let last = journal.lastSequence - 1
        switch kind {
        case .middle, .row: #expect(last == 5000)
        case .cut: #expect(last > 1000 && last < 5000)
        case .head, .everything: #expect(last == 0)
        }
        #expect(try events() == [last + 1])
        try journal.append([Event(seq: journal.lastSequence + 1, type: .mount)])
        #expect(try events() == [last + 1, last + 2])
        #expect(try !journal.endsWithinAMount())
        journal.close()
    }

    /// The journal is damaged while in use: the batch that meets the damage is not lost. The batch already has the next number,
    /// so the event about the damage takes the number before it.
    @Test func isFoundWhileItIsUsed() throws {
        var journal: Journal? = try open()
        try Database(path: path, flags: 2).execute(  // SQLITE_OPEN_READWRITE
            """
            PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'events_path';
            PRAGMA schema_version = 99
            """)
        try journal?.append([JournalTests.purge(seq: 5001)])
        let damage = journal?.takeDamage() ?? []
        #expect(damage.count == 1 && damage.allSatisfy { $0.lack == nil })
        #expect(try events() == [5000, 5001])
        #expect(try journal?.lastUses().isEmpty == true)
        journal?.close()
        journal = nil
        #expect(try StoreInspection.run(directory["s"], repairing: false).problems == [])
    }

    enum Loss: CaseIterable, Sendable { case removed, replaced, emptied }
    /// Another program removes, replaces or empties the file while it is in use: later events are still written.
    @Test(arguments: Loss.allCases) func isLostWhileItIsUsed(loss: Loss) throws {
        do {
            let other = try Journal.open(in: try Store.open(directory["other"], creating: true))
            try other.append((1...7000).map { JournalTests.purge(seq: $0) })
            other.close()
        }
        let journal = try open()
        try journal.append([JournalTests.purge(seq: 5001)])
        switch loss {
        case .removed: try directory.removeFile("s/journal.sqlite")
        case .replaced: try System.rename(at: AT_FDCWD, directory["other/journal.sqlite"], to: AT_FDCWD, path)
        case .emptied:
            let file = try FileDescriptor.open(path, O_RDWR)
            try System.truncate(file.raw, 0)
        }
        try journal.append([JournalTests.purge(seq: 9000)])
        let others: [Int64] =
            switch loss {
            case .removed: []
            case .replaced: Array(1...7000)
            case .emptied: [5001]
            }
        #expect(try events() == others + [9000])
        let damage = journal.takeDamage()
        #expect(
            damage.map(\.message.what) == [
                loss == .emptied
                    ? "the journal was damaged: it was emptied"
                    : "the journal was removed or replaced while it was in use"
            ])
        try journal.append([JournalTests.purge(seq: 9001)])
        #expect(journal.takeDamage().isEmpty && journal.lastSequence == 9001)
        journal.close()
    }

    /// On a full disk, the damaged journal is set aside at once, and the new one begins when there is room.
    @Test func onAFullDisk() throws {
        try directory.makeDirectory("disk")
        try Program.run("mount", "-t", "tmpfs", "-o", "size=4M", "purgefs-test", directory["disk"]).succeeded()
        defer { _ = try? Program.run("umount", "-l", directory["disk"]) }
        let (store, file) = (directory["disk/s"], "disk/s/journal.sqlite")
        do {
            let sound = try Journal.open(in: try Store.open(store, creating: true))
            try sound.append((1...5000).map { JournalTests.purge(seq: $0) })
            sound.close()
        }
        let size = try content(file).count / 8192 * 4096
        try overwrite(file, at: size, count: 4096)
        let before = try content(file)
        _ = try? directory.write([UInt8](repeating: 1, count: 4 << 20), to: "disk/fill")
        func open() throws -> Journal {
            try Journal.open(
                in: try Store.open(store, creating: false), toleratingFullDisk: true, replacingDamaged: true)
        }
        do {
            let journal = try open()
            #expect(journal.openingFailure?.advice == "The disk under the store is full: make room there.")
            _ = try storeError { try journal.append([JournalTests.purge(seq: 1)]) }
            #expect(try content("\(file).damaged-1") == before && journal.takeDamage().map { $0.lack != nil } == [true])
            #expect(try journal.lastUses().isEmpty && !journal.endsWithinAMount())
            try directory.removeFile("disk/fill")
            try journal.append([JournalTests.purge(seq: 2)])
            journal.close()
        }
        let journal = try open()
        #expect(journal.openingFailure == nil && journal.takeDamage().isEmpty && journal.lastSequence == 2)
        journal.close()
    }

    /// On a full disk even the rename can fail. The damaged journal then stays in place, and each use tries again.
    @Test(arguments: [ENOSPC, EDQUOT]) func aNameForWhichThereIsNoRoom(code: Int32) throws {
        try damage(.head)
        let before = try content()
        let store = try Store.open(directory["s"], creating: false)
        let outcome = SystemCallFaults(after: 0, of: .renameat2, code: code, count: .max).during {
            let journal = try Journal.open(in: store, toleratingFullDisk: true, replacingDamaged: true)
            for _ in 1...5 { _ = try storeError { try journal.append([JournalTests.purge(seq: 1)]) } }
            return journal
        }
        let journal = try outcome.result.get()
        #expect(journal.openingFailure != nil && journal.takeDamage().isEmpty)
        #expect(try content() == before && outcome.hits == 6)
        try journal.append([JournalTests.purge(seq: 1)])
        #expect(try content("s/journal.sqlite.damaged-1") == before && events() == [1])
        #expect(journal.takeDamage().count == 1)
        journal.close()
    }

    struct Header: Sendable {
        let bytes: Range<Int>
        let isSound: Bool
    }
    /// A journal with a damaged header is not taken for another program's file, even if the header claims a write-ahead log.
    @Test(arguments: [
        Header(bytes: 18..<19, isSound: true), Header(bytes: 19..<20, isSound: false),
        Header(bytes: 0..<100, isSound: false),
    ]) func aDamagedHeader(header: Header) throws {
        let file = try FileDescriptor.open(path, O_RDWR)
        _ = try [UInt8](repeating: 2, count: header.bytes.count).withUnsafeBytes {
            try System.pwrite(file.raw, $0, offset: Int64(header.bytes.lowerBound))
        }
        do {
            let journal = try open()
            #expect(journal.takeDamage().count == (header.isSound ? 0 : 1))
            #expect(try events() == (header.isSound ? Array(1...5000) : [1]))
            journal.close()
        }
        #expect(try StoreInspection.run(directory["s"], repairing: false).problems == [])
    }

    /// A disk that damages the journal again and again is not filled with copies. The oldest copy stays, because it usually has
    /// the longest history.
    @Test func theOldestAndTheNewestTwoAreKept() throws {
        for number in 1...5 {
            try damage(.head)
            let journal = try open()
            try directory.write("part", to: "s/journal.sqlite.damaged-\(number)-wal")
            #expect(journal.takeDamage().first?.message.advice.contains("`journal.sqlite.damaged-\(number)`") == true)
            journal.close()
        }
        let kept = directory.names(in: "s").filter { $0.contains("damaged") }.sorted()
        #expect(kept == [1, 4, 5].flatMap { ["journal.sqlite.damaged-\($0)", "journal.sqlite.damaged-\($0)-wal"] })
        #expect(try content("s/journal.sqlite.damaged-5").prefix(100) != content().prefix(100))
    }

    /// After the largest number has been used, the next damaged journal gets a free number and replaces no file.
    @Test func noFileIsReplaced() throws {
        try directory.write("other", to: "s/journal.sqlite.damaged-\(Int.max - 1)")
        var kept: [String: [UInt8]] = [:]
        for number in [Int.max, 1, 2] {
            try damage(.head)
            kept["s/journal.sqlite.damaged-\(number)"] = try content()
            try open().close()
            for (name, before) in kept { #expect(try content(name) == before) }
        }
        #expect(try directory.read("s/journal.sqlite.damaged-\(Int.max - 1)") == "other")
    }

    /// SQLite would replay the pages of another database into the journal.
    @Test func aLogOfAnotherDatabase() throws {
        let live = try Database(path: directory["s/journal.sqlite.foreign"], flags: 6)  // READWRITE, CREATE
        try live.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES(1)")
        try directory.copy("s/journal.sqlite.foreign-wal", to: "s/journal.sqlite-wal")
        let log = try content("s/journal.sqlite-wal")
        let journal = try open()
        #expect(
            journal.takeDamage().map(\.message.what)
                == ["a write-ahead log of another database was beside the journal"])
        #expect(try events() == Array(1...5000))
        #expect(try content("s/journal.sqlite.foreign-1-wal") == log && !directory.exists("s/journal.sqlite-wal"))
        #expect(directory.names(in: "s").allSatisfy { !$0.contains("damaged") })
        journal.close()
        withExtendedLifetime(live) {}
    }

    @Test func aLogBesideADamagedJournal() throws {
        try directory.write("log", to: "s/journal.sqlite-wal")
        try damage(.middle)
        let damaged = try content()
        let journal = try open()
        #expect(journal.takeDamage().count == 2)
        #expect(try directory.read("s/journal.sqlite.foreign-1-wal") == "log")
        #expect(try content("s/journal.sqlite.damaged-1") == damaged && events() == [5001])
        journal.close()
    }

    /// `run` asks for the last number before its daemon opens the journal.
    @Test func theLastNumberBesideALog() throws {
        try directory.write("log", to: "s/journal.sqlite-wal")
        #expect(try Journal.lastSequence(in: try Store.open(directory["s"], creating: false)) == 5000)
        #expect(directory.names(in: "s").filter { $0.hasSuffix("-wal") } == ["journal.sqlite-wal"])
    }

    /// A foreign database and a journal of a newer version are left alone.
    @Test(arguments: ["PRAGMA application_id = 1", "PRAGMA user_version = 9"])
    func whatIsNotOurs(sql: String) throws {
        try Database(path: path, flags: 2).execute(sql)
        let before = try content()
        _ = try storeError { _ = try open() }
        #expect(try content() == before && !directory.exists("s/journal.sqlite.damaged-1"))
    }

    @Test func aRunAsksForItsLastNumber() throws {
        let store = try Store.open(directory["s"], creating: false)
        #expect(try Journal.lastSequence(in: store) == 5000)
        try Database(path: path, flags: 2).execute("PRAGMA application_id = 1")
        #expect(try storeError { _ = try Journal.lastSequence(in: store) }.what.contains("not a journal of purgefs"))
        try damage(.head)
        let before = try content()
        #expect(try Journal.lastSequence(in: store) == 0)
        #expect(try content() == before)
    }

    /// Asking for the last mount can discover damage. The new journal knows of no mount.
    @Test func theLastMountOfADamagedJournal() throws {
        let journal = try open()
        try journal.append([Event(seq: 5001, type: .mount)])
        #expect(try journal.endsWithinAMount())
        let page = try Program.run(
            "sqlite3", path, "SELECT pageno FROM dbstat WHERE name = 'events_whole' LIMIT 1"
        ).succeeded()
        let number = try #require(Int(page.filter(\.isNumber)))
        try overwrite("s/journal.sqlite", at: (number - 1) * 4096, count: 100)
        // This change makes the journal's own connection read the file again.
        try Database(path: path, flags: 2).execute("PRAGMA schema_version = 99")
        #expect(try !journal.endsWithinAMount())
        #expect(journal.takeDamage().count == 1)
        #expect(try events() == [5001])
        journal.close()
    }

    /// Even without the mount's event, a journal that has events and was not closed shows that the mount has not ended.
    @Test func theLastMountWhoseBeginningIsGone() throws {
        for isEmpty in [false, true] {
            let name = isEmpty ? "empty" : "killed"
            do {
                let journal = try Journal.open(in: try Store.open(directory["written"], creating: true))
                try journal.append([Event(seq: isEmpty ? 2 : 1, type: .mark)])
                if isEmpty {
                    try journal.withDatabase { (database) throws(DatabaseError) in
                        try database.execute("DELETE FROM events")
                    }
                }
                _ = try Store.open(directory[name], creating: true)
                for part in ["journal.sqlite", "journal.sqlite-journal"] {
                    try directory.copy("written/\(part)", to: "\(name)/\(part)")
                }
                withExtendedLifetime(journal) {}
            }
            // Closing a journal removes its rollback journal, so only the first opening reports the unfinished mount.
            for isFirst in [true, false] {
                let journal = try Journal.open(
                    in: try Store.open(directory[name], creating: false), replacingDamaged: true)
                #expect(try journal.endsWithinAMount() == (isFirst && !isEmpty))
                journal.close()
            }
        }
    }

    /// The lookup uses an index, so that a mount does not read a long journal.
    @Test(arguments: ["mount", "unmount"]) func theLastMountIsLookedUp(type: String) throws {
        let journal = try open()
        let plan = try journal.withDatabase { (database) throws(DatabaseError) in
            let rows = try database.prepare("EXPLAIN QUERY PLAN \(Journal.newest(type))")
            return try rows.step() ? rows.text(3) : nil
        }
        #expect(plan == "SEARCH events USING INDEX events_whole (type=?)")
    }

    @Test func theLastMount() throws {
        let journal = try open()
        #expect(try !journal.endsWithinAMount())
        try journal.append([Event(seq: 5001, type: .mount), Event(seq: 5002, type: .mark)])
        #expect(try journal.endsWithinAMount())
        try journal.append([Event(seq: 5003, type: .unmount), Event(seq: 5004, type: .capacity)])
        #expect(try !journal.endsWithinAMount())
    }
}
