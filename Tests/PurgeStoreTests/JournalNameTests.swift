import PurgeModel
import Testing

@testable import PurgeStore

/// Queries of the journal about a single name, in both directions.
struct JournalNameTests {
    typealias Query = JournalReader.Query
    let directory: TemporaryDirectory
    let journal: Journal
    init() throws {
        directory = try TemporaryDirectory()
        journal = try Journal.open(in: try Store.open(directory["s"], creating: true))
        try journal.append([
            Event(seq: 1, type: .renamed, path: "a", to: "b"), Event(seq: 2, type: .app, reason: "launch"),
            Event(seq: 3, type: .purge, path: "b"), Event(seq: 4, type: .app, reason: "delete"),
            Event(seq: 5, type: .removed, path: "b"), Event(seq: 6, type: .renamed, path: "b", to: "b/c"),
            Event(seq: 7, type: .replaced, path: "d", to: "b"), Event(seq: 8, type: .app, path: "odd"),
        ])
    }
    private var reader: JournalReader { get throws { try JournalReader(storePath: directory["s"]) } }
    private func found(_ query: Query) throws -> [Int64] { try reader.events(query).map(\.seq) }

    @Test func bothDirections() throws {
        #expect(try found(Query(.at("b"))) == [6, 5, 3])
        #expect(try found(Query(.at("b"), newestFirst: false, limit: 2)) == [3, 5])
        #expect(try found(Query(.at("b"), after: 3, before: 6)) == [5])
        #expect(try found(Query(.to("b"), newestFirst: false)) == [1, 7])
        #expect(try found(Query(.whole(.app))) == [4, 2])
        #expect(try found(Query(.whole(.app), after: 2, newestFirst: false)) == [4])
        #expect(try found(Query(.whole(.restore))) == [])
        #expect(try found(Query(.at("b"), limit: 0)) == [])
        #expect(try found(Query(.at("b"), [.purge, .renamed], limit: 2)) == [6, 3])
        #expect(try found(Query(.to("b"), [.renamed], before: 2)) == [1])
        #expect(try found(Query(.at("nothing"))) == [])
        #expect(try found(Query(.any, before: 6, limit: 2)) == [5, 4])
        #expect(try found(Query(.any, [.renamed])) == [6, 1])
    }

    @Test func existence() throws {
        #expect(try reader.having(events: ["z", "b", "a", "b/c"], to: false) == ["b", "a"])
        #expect(try reader.having(events: ["z", "b", "a", "b/c"], to: true) == ["b", "b/c"])
        for (isTarget, column) in [(false, "path"), (true, "target")] {
            #expect(
                try plan(EventRow.existence(to: isTarget))
                    == ["SEARCH events USING COVERING INDEX events_\(column) (\(column)=?)"])
        }
    }

    @Test func neighbours() throws {
        #expect(try reader.paths(near: "b", backwards: false, limit: 9) == ["d", "odd"])
        #expect(try reader.paths(near: "c", backwards: true, limit: 9) == ["b", "a"])
        #expect(try reader.paths(near: "c", backwards: true, limit: 1) == ["b"])
        #expect(try reader.paths(near: "zz", backwards: false, limit: 9) == [])
    }

    /// No query scans a table or sorts, whatever the number of events.
    @Test(arguments: [
        (Query(.at("b")), "events_path (path=? AND rowid>? AND rowid<?)"),
        (Query(.at("b"), [.purge, .mark]), "events_path (path=? AND rowid>? AND rowid<?)"),
        (Query(.at("b"), newestFirst: false), "events_path (path=? AND rowid>? AND rowid<?)"),
        (Query(.to("b")), "events_target (target=? AND rowid>? AND rowid<?)"),
        (Query(.whole(.app)), "events_whole (type=? AND rowid>? AND rowid<?)"),
        (Query(.whole(.app), newestFirst: false), "events_whole (type=? AND rowid>? AND rowid<?)"),
    ]) func anIndexLeadsToThem(query: Query, index: String) throws {
        #expect(
            try plan("\(EventRow.selection) \(EventRow.condition(query))")
                == ["SEARCH events USING INDEX \(index)"])
    }

    @Test(arguments: [(false, ">"), (true, "<")]) func anIndexLeadsToNeighbours(backwards: Bool, sign: String) throws {
        #expect(
            try plan(EventRow.nextPath(backwards: backwards))
                == ["SEARCH events USING COVERING INDEX events_path (path\(sign)?)"])
    }

    private func plan(_ sql: String) throws -> [String] {
        var lines: [String] = []
        let database = try Database(path: directory["s/journal.sqlite"], flags: 1)  // SQLITE_OPEN_READONLY
        let rows = try database.prepare("EXPLAIN QUERY PLAN \(sql)")
        while try rows.step() { lines.append(rows.text(3) ?? "") }
        return lines
    }
}
