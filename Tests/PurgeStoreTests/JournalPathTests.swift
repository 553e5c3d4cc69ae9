import Glibc
import PurgeModel
import PurgeSystem
import Testing

@testable import PurgeStore

/// What the journal knows of one path.
struct JournalPathTests {
    let directory: TemporaryDirectory
    init() throws {
        directory = try TemporaryDirectory()
        let journal = try Journal.open(in: try Store.open(directory["s"], creating: true))
        try journal.append([JournalFormatTests.sample])
        try journal.append([
            Event(seq: 1, type: .renamed, path: "a", to: "b"), Event(seq: 2, type: .renamed, path: "c", to: "b"),
            Event(seq: 3, type: .purge, path: "b"), Event(seq: 4, type: .mount),
            Event(seq: 5, type: .removed, path: "b"),
            Event(seq: 6, type: .replaced, path: "B", to: "b"), Event(seq: 7, type: .mark, path: "b/"),
        ])
        journal.close()
    }
    private var reader: JournalReader { get throws { try JournalReader(storePath: directory["s"]) } }

    @Test func theNewestFirst() throws {
        let reader = try reader
        #expect(try reader.events(at: "b", limit: 9).map(\.seq) == [5, 3])
        #expect(try reader.events(at: "b", limit: 1).map(\.seq) == [5])
        #expect(try reader.events(at: "b", before: 5, limit: 9).map(\.seq) == [3])
        #expect(try reader.events(at: "b", types: [.purge, .mark], limit: 9).map(\.seq) == [3])
        #expect(try reader.events(at: "nothing", limit: 9) == [])
        #expect(try reader.events(at: "b", limit: 0) == [])
        #expect(try reader.events(to: "b", limit: 9).map(\.seq) == [6, 2, 1])
        #expect(try reader.events(to: "b", types: [.renamed], before: 2, limit: 9).map(\.seq) == [1])
        #expect(try reader.events(before: 6, limit: 2).map(\.seq) == [5, 4])
        #expect(try reader.events(types: [.renamed], limit: 9).map(\.seq) == [2, 1])
    }

    /// However many events there are, those of a path are found by its index, without sorting.
    @Test(arguments: [("path", "events_path"), ("target", "events_target")])
    func anIndexLeadsToThem(column: String, index: String) throws {
        let journal = try Journal.open(in: try Store.open(directory["s"], creating: false))
        let plan = try journal.withDatabase { (database) throws(DatabaseError) in
            let selection = try EventRow.selection(from: database)
            return try [0, 2].map { (types) throws(DatabaseError) in
                let rows = try database.prepare(
                    "EXPLAIN QUERY PLAN \(selection) \(EventRow.newest(types, of: column))")
                var lines: [String] = []
                while try rows.step() { lines.append(rows.text(3) ?? "") }
                return lines
            }
        }
        for lines in plan {
            #expect(lines == ["SEARCH events USING INDEX \(index) (\(column)=? AND rowid<?)"])
        }
    }

    /// Entries of an index that lead to other events are damage, not an answer.
    @Test func anIndexThatDoesNotFitIsDamage() throws {
        try Database(path: directory["s/journal.sqlite"], flags: 2).execute(  // SQLITE_OPEN_READWRITE
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'events_target')
            WHERE name = 'events_path'
            """)
        let error = try storeError { _ = try reader.events(at: "b", limit: 9) }
        #expect(error.what.hasPrefix("the journal is damaged"))
        #expect(try StoreInspection.run(directory["s"], repairing: true).problems.map(\.isRepairable) == [true])
        #expect(try reader.events(at: "b", limit: 9).map(\.seq) == [5, 3])
        #expect(try StoreInspection.run(directory["s"], repairing: false).problems == [])
    }

    @Test(arguments: [
        "DROP INDEX events_path", "DROP INDEX events_path; CREATE INDEX events_path ON events(hex(path))",
        "CREATE INDEX more ON events(time)", "DROP TABLE samples",
        "DROP TABLE samples; CREATE VIEW samples AS SELECT 1 AS id",
    ]) func anotherSchemaIsDamage(sql: String) throws {
        try Database(path: directory["s/journal.sqlite"], flags: 2).execute(sql)  // SQLITE_OPEN_READWRITE
        #expect(try storeError { _ = try reader.events() }.what.hasPrefix("the journal is damaged"))
        let store = try Store.open(directory["s"], creating: false)
        #expect(try storeError { _ = try Journal.open(in: store) }.what.hasPrefix("the journal is damaged"))
        _ = try store.place.inspectJournal(repairing: true)
        #expect(try reader.events().map(\.seq) == Array(1...7))
        #expect(try reader.samples().count == (sql.contains("samples") ? 0 : 1))
        #expect(try store.place.inspectJournal(repairing: false) == nil)
    }
}
