import Glibc
import PurgeModel
import PurgeSystem
import Testing

@testable import PurgeStore

/// A journal made by an attacker: opening it terminates, and touches nothing else.
struct HostileJournalTests {
    let directory: TemporaryDirectory
    let path: String
    init() throws {
        directory = try TemporaryDirectory()
        path = directory["s/journal.sqlite"]
        let journal = try Journal.open(in: try Store.open(directory["s"], creating: true))
        try journal.append((1...20).map { JournalTests.purge(seq: $0) })
        try journal.saveLastUses([.init(inode: 9, birth: 8, lastUse: Instant(nanoseconds: 7))])
        journal.close()
    }

    private func opening() throws -> StoreError {
        try storeError {
            let journal = try Journal.open(in: try Store.open(directory["s"], creating: false))
            _ = try journal.lastUses()
            try journal.append([Event(seq: journal.lastSequence + 1, type: .mount)])
        }
    }
    private func change(_ sql: String) throws {
        try Database(path: path, flags: 2).execute(sql)  // SQLITE_OPEN_READWRITE
    }
    /// Expects that opening and reading report damage, that a repair sets the journal aside, and that the new one works.
    private func isRefusedAndRepaired(keeping events: Int, saying what: String = "the journal is damaged") throws {
        #expect(try opening().what.hasPrefix(what))
        let reading = try storeError { _ = try JournalReader(storePath: directory["s"]).events() }
        #expect(reading.what.hasPrefix(what))
        #expect(try StoreInspection.run(directory["s"], repairing: false).problems.map(\.isRepairable) == [true])
        _ = try StoreInspection.run(directory["s"], repairing: true)
        #expect(try StoreInspection.run(directory["s"], repairing: false).problems == [])
        #expect(try JournalReader(storePath: directory["s"]).events().count == events)
        let journal = try Journal.open(in: try Store.open(directory["s"], creating: false))
        try journal.append([Event(seq: journal.lastSequence + 1, type: .mount)])
    }

    @Test(arguments: [
        (
            "events",
            "seq, 't' AS time, 'mark' AS type, NULL AS path, NULL AS tier, 0 AS bytes, NULL AS reason, NULL AS trigger, 1 AS pid"
        ),
        ("last_uses", "seq AS inode, 0 AS birth, 0 AS last_use"),
    ]) func endlessViews(table: String, columns: String) throws {
        try change(
            """
            DROP TABLE \(table);
            CREATE VIEW \(table) AS WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n)
            SELECT \(columns) FROM n
            """)
        try isRefusedAndRepaired(keeping: table == "events" ? 0 : 20)
    }

    struct Odd: Sendable {
        let part: String
        /// The target of a symbolic link, or `FIFO` or `directory`.
        let thing: String
    }
    static let odd: [Odd] = ["-journal", "-wal", "-shm"].flatMap { part in
        ["journal.sqlite\(part)", "nowhere", "/etc/hostname", "FIFO", "directory"].map { Odd(part: part, thing: $0) }
    }
    /// A link, FIFO or directory with the name of a file that SQLite keeps beside the journal is damage. SQLite itself may
    /// notice such an entry only when it writes.
    @Test(arguments: odd) func somethingElseBesideIt(odd: Odd) throws {
        let made =
            switch odd.thing {
            case "FIFO": mkfifo(path + odd.part, 0o600)
            case "directory": mkdir(path + odd.part, 0o700)
            default: symlink(odd.thing, path + odd.part)
            }
        #expect(made == 0)
        let kind = ["FIFO": "a FIFO", "directory": "a directory"][odd.thing] ?? "a symbolic link"
        try isRefusedAndRepaired(
            keeping: 20, saying: "the journal has \(kind) beside it, `journal.sqlite\(odd.part)`")
    }

    @Test func endlessTriggers() throws {
        try change(
            """
            CREATE TRIGGER t BEFORE INSERT ON events BEGIN
            INSERT INTO last_uses WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n) SELECT i, 0, 0 FROM n; END
            """)
        try isRefusedAndRepaired(keeping: 20)
    }

    @Test func generatedColumns() throws {
        try change(
            """
            DROP TABLE events;
            CREATE TABLE events(seq INTEGER PRIMARY KEY, time TEXT, type TEXT, path TEXT AS (hex(zeroblob(400000))),
            tier TEXT, bytes INTEGER, reason TEXT, trigger TEXT, pid INTEGER);
            INSERT INTO events(seq, time, type) VALUES(1, 't', 'mark')
            """)
        try isRefusedAndRepaired(keeping: 0)
    }

    @Test func aFormatThatNeverWas() throws {
        try change("PRAGMA user_version = 1")
        try isRefusedAndRepaired(keeping: 20)
    }

    @Test(arguments: [Int64.max, .max - 1, .min, -1, 0]) func extremeNumbers(seq: Int64) throws {
        try change("UPDATE events SET seq = \(seq) WHERE seq = 20")
        if seq > 0 {
            try isRefusedAndRepaired(keeping: 19)
        } else {
            let journal = try Journal.open(in: try Store.open(directory["s"], creating: false))
            #expect(journal.lastSequence == 19)
        }
    }

    /// A number that leaves no room for the numbers of further events is damage.
    @Test(arguments: [1 << 62, (1 << 61) + 1] as [Int64]) func numbersThatLeaveNoRoom(seq: Int64) throws {
        try change("UPDATE events SET seq = \(seq) WHERE seq = 20")
        #expect(try opening().what == "the journal is damaged: it has an event with the number \(seq)")
        #expect(try StoreInspection.run(directory["s"], repairing: false).problems.map(\.isRepairable) == [true])
        _ = try StoreInspection.run(directory["s"], repairing: true)
        #expect(try StoreInspection.run(directory["s"], repairing: false).problems == [])
        let journal = try Journal.open(in: try Store.open(directory["s"], creating: false))
        #expect(journal.lastSequence == 19)
    }

    @Test func theLargestNumberThatLeavesRoom() throws {
        try change("UPDATE events SET seq = \(1 << 61) WHERE seq = 20")
        #expect(try StoreInspection.run(directory["s"], repairing: false).problems == [])
        let journal = try Journal.open(in: try Store.open(directory["s"], creating: false))
        #expect(journal.lastSequence == 1 << 61)
        try journal.append([Event(seq: (1 << 61) + 1, type: .mount)])
        #expect(try JournalReader(storePath: directory["s"]).events().last?.seq == (1 << 61) + 1)
    }

    /// Rows with values of wrong types can be read: any SQLite column can hold a value of any type.
    @Test func rowsOfWrongTypes() throws {
        let values = ["NULL", "x'00ff'", "'text'", "9e999", "-1.5", "\(Int64.min)", "\(Int64.max)", "zeroblob(50000)"]
        for (index, value) in values.enumerated() {
            let row = Array(repeating: value, count: 14).joined(separator: ", ")
            try change(
                """
                INSERT INTO events VALUES(\(100 + index), 't', 'mark', \(row));
                INSERT INTO last_uses VALUES(\(100 + index), ifnull(\(value), 0), ifnull(\(value), 0))
                """)
        }
        let journal = try Journal.open(in: try Store.open(directory["s"], creating: false))
        #expect(try journal.lastUses().count == values.count + 1)
        #expect(try JournalReader(storePath: directory["s"]).events().count == values.count + 20)
    }

    @Test func aTextThatIsTooLong() throws {
        try change("UPDATE events SET path = NULL WHERE seq = 20")
        // `Database` limits the length of values, so even this connection cannot write one that is too long.
        #expect(throws: DatabaseError.self) { try change("UPDATE events SET path = zeroblob(2000000) WHERE seq = 20") }
    }

    @Test(arguments: ["fifo", "directory", "link"]) func otherKindsOfFile(kind: String) throws {
        try System.unlink(at: AT_FDCWD, path)
        switch kind {
        case "fifo": #expect(mkfifo(path, 0o600) == 0)
        case "directory": #expect(mkdir(path, 0o700) == 0)
        default: #expect(symlink(directory["elsewhere"], path) == 0)
        }
        let words = kind == "fifo" ? "FIFO" : kind == "link" ? "symbolic link" : kind
        try isRefusedAndRepaired(keeping: 0, saying: "is a \(words), not a journal of purgefs")
        #expect(directory.names(in: "s").contains("journal.sqlite.foreign-1") && !directory.exists("elsewhere"))
    }

    /// A FIFO or a link in place of the rollback journal is refused: SQLite would wait for the FIFO's other end.
    @Test(arguments: ["fifo", "link"]) func anOddRollbackJournal(kind: String) throws {
        if kind == "fifo" {
            #expect(mkfifo(path + "-journal", 0o600) == 0)
        } else {
            try directory.write("precious", to: "elsewhere")
            #expect(symlink(directory["elsewhere"], path + "-journal") == 0)
        }
        _ = try opening()
        if kind == "link" { #expect(try directory.read("elsewhere") == "precious") }
    }

    /// A file that the rollback journal names as its super-journal stays, although SQLite would read and remove it.
    @Test func aSuperJournalIsNotRemoved() throws {
        try directory.write("precious", to: "elsewhere")
        let live = try Database(path: path, flags: 2)
        try live.execute(
            """
            PRAGMA journal_mode = DELETE; PRAGMA cache_size = 2; BEGIN IMMEDIATE;
            WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
            INSERT INTO events(seq, time, type) SELECT i, 't', 'mark' FROM n
            """)
        let victim = Array(directory["elsewhere"].utf8)
        let sum = victim.reduce(0) { $0 &+ UInt32($1) }
        func number(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
        let end =
            number(1_073_741_824 / 4096 + 1) + victim + number(UInt32(victim.count)) + number(sum)
            + [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
        let other = try Store.open(directory["killed"], creating: true)
        for part in ["", "-journal"] {
            try directory.copy("s/journal.sqlite\(part)", to: "killed/journal.sqlite\(part)")
        }
        let tail = try FileDescriptor.open(directory["killed/journal.sqlite-journal"], O_WRONLY | O_APPEND)
        try tail.writeAll(end)
        _ = try? Journal.open(in: other)
        _ = try? JournalReader(storePath: directory["killed"]).events()
        #expect(try directory.read("elsewhere") == "precious")
    }
}
