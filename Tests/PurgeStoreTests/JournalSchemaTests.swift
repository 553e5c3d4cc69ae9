import Glibc
import PurgeModel
import PurgeSystem
import Testing

@testable import PurgeStore

/// A journal with a schema that purgefs did not make.
struct JournalSchemaTests {
    let directory: TemporaryDirectory
    init() throws {
        directory = try TemporaryDirectory()
        let journal = try Journal.open(in: try Store.open(directory["s"], creating: true))
        try journal.append([SampleTests.sample])
        try journal.append([
            Event(seq: 1, type: .renamed, path: "a", to: "b"), Event(seq: 2, type: .renamed, path: "c", to: "b"),
            Event(seq: 3, type: .purge, path: "b"), Event(seq: 4, type: .mount),
            Event(seq: 5, type: .removed, path: "b"),
            Event(seq: 6, type: .replaced, path: "B", to: "b"), Event(seq: 7, type: .mark, path: "b/"),
        ])
        journal.close()
    }
    private var reader: JournalReader { get throws { try JournalReader(storePath: directory["s"]) } }

    /// Index entries that lead to other events count as damage, and are never returned as an answer.
    @Test func anIndexThatDoesNotFitIsDamage() throws {
        try Database(path: directory["s/journal.sqlite"], flags: 2).execute(  // SQLITE_OPEN_READWRITE
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'events_target')
            WHERE name = 'events_path'
            """)
        let error = try storeError { _ = try reader.events(.init(.at("b"))) }
        #expect(error.what.hasPrefix("the journal is damaged"))
        #expect(try StoreInspection.run(directory["s"], repairing: true).problems.map(\.isRepairable) == [true])
        #expect(try reader.events(.init(.at("b"))).map(\.seq) == [5, 3])
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
