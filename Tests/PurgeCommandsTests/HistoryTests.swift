import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeCommandLine
@testable import PurgeCommands
@testable import PurgeContainers

/// Reading the events of a journal from its end, and from a moment on.
struct HistoryTests {
    private func withHistory(_ events: [Event], _ body: (String, History) throws -> Void) throws {
        try Scratch.with("history") { scratch in
            let path = "\(scratch.path)/s"
            let store = try Store.open(path, creating: true)
            let journal = try Journal.open(in: store)
            try journal.append(events)
            journal.close()
            try body(path, try History(store: path))
        }
    }
    /// Every fifth event is a purge. Every thousandth event has the path tmp/rare, and event 7 has that path as its target.
    private let events: [Event] = (1...2500).map { (number: Int) -> Event in
        let minute = number < 1250 ? "10" : "20"
        let type: EventType = number % 5 == 0 ? .purge : number % 2 == 0 ? .removed : .mark
        let path = number % 1000 == 0 ? "tmp/rare" : "tmp/\(number)"
        return Event(
            seq: Int64(number), time: "2026-11-21T09:\(minute):00.000Z", type: type, path: path,
            to: number == 7 ? "tmp/rare" : nil)
    }
    private func check(_ history: History, _ count: Int, _ filter: EventFilter, _ expected: [Int64]) throws {
        let found = try history.newest(count, filter).map(\.seq)
        #expect(found == expected)
    }

    @Test func theNewest() throws {
        try withHistory(events) { _, history in
            let all = EventFilter()
            try check(history, 3, all, [2498, 2499, 2500])
            try check(history, 3, .usual, [2497, 2499, 2500])
            try check(history, 2, EventFilter(types: [.purge]), [2495, 2500])
            try check(history, 0, all, [])
            try check(history, 1500, all, Array(1001...2500))
            try check(history, 2500, all, Array(1...2500))
            try check(history, 100_000, all, Array(1...2500))
            // The matches are spread over several pages, and match by path or by target.
            try check(history, 2, EventFilter(glob: "*/rare"), [1000, 2000])
            try check(history, 9, EventFilter(glob: "*/rare"), [7, 1000, 2000])
        }
    }

    @Test func since() throws {
        try withHistory(events) { _, history in
            let filter = EventFilter(types: [.purge], since: "2026-11-21T09:15:00.000Z")
            let expected = Array(stride(from: Int64(1250), through: 2500, by: 5))
            let found = try history.events(after: 0, filter).map(\.seq)
            #expect(found == expected)
            try check(history, 10_000, filter, expected)
            try check(history, 1, filter, [2500])
            let (from, after) = ("2026-11-21T09:20:00.000Z", "2026-11-21T09:20:00.001Z")
            let numbers = try [from, after].map { try history.events(after: 0, EventFilter(since: $0)).count }
            #expect(numbers == [1251, 0])
        }
    }

    /// Damages two events in between. If a query reads one of them, it fails.
    private func withDamagedHistory(_ body: (History) throws -> Void) throws {
        try withHistory(events) { store, history in
            let change = "UPDATE events SET type = 'nonsense' WHERE seq IN (12, 1249)"
            try Program.run("sqlite3", "\(store)/journal.sqlite", change).succeeded()
            #expect(throws: CommandFailure.self) { try history.newest(2500, EventFilter()) }
            try body(history)
        }
    }

    /// The events of one path are found without reading others, from either end.
    @Test(arguments: ["tmp/rare", "tmp\\/ra\\re"]) func ofOnePath(glob: String) throws {
        try withDamagedHistory { history in
            try check(history, 2, EventFilter(glob: glob), [1000, 2000])
            try check(history, 9, EventFilter(glob: glob), [7, 1000, 2000])
            try check(history, 9, EventFilter(types: [.purge], glob: glob), [1000, 2000])
            try check(history, 9, EventFilter(glob: glob, since: "2026-11-21T09:15:00.000Z"), [2000])
            let after = try history.events(after: 7, EventFilter(glob: glob)).map(\.seq)
            #expect(after == [1000, 2000])
        }
    }

    /// The matching events fill several pages. They match by path or target, and each is found once; every fourth event
    /// matches neither.
    @Test func manyEventsOfOnePath() throws {
        let events = (1...4000).map { (number: Int) -> Event in
            let (path, to) = [("a", nil), ("b", "a"), ("b", nil), ("a", "a")][number % 4]
            return Event(seq: Int64(number), time: "2026-11-21T09:00:00.000Z", type: .renamed, path: path, to: to)
        }
        let expected = (1...4000).filter { $0 % 4 != 2 }.map { Int64($0) }
        try withHistory(events) { _, history in
            let all = try history.events(after: 0, EventFilter(glob: "a")).map(\.seq)
            #expect(all == expected)
            for count in [1, 999, 1000, 1001, 2500, 2999, 3000, 3001] {
                try check(history, count, EventFilter(glob: "a"), expected.suffix(count))
            }
        }
    }

    @Test func theNewestSinceAMoment() throws {
        try withDamagedHistory { history in
            try check(
                history, 10_000, EventFilter(since: "2026-11-21T09:15:00.000Z"), Array(1250...2500))
        }
    }

    @Test(arguments: [
        ("tmp/a", "tmp/a"), (#"tmp/\[a\]\*"#, "tmp/[a]*"), (#"a\\b"#, #"a\b"#), ("", ""), ("tmp/*", nil), ("a?", nil),
        ("[a]", nil), (#"a\"#, nil),
    ]) func onlyMatch(pattern: String, path: String?) { #expect(Glob.onlyMatch(of: pattern) == path) }

    /// Repeated reading yields the same as reading once, even if events are added in between. Events whose time cannot be parsed
    /// are not grouped.
    @Test func theNewestAgainAndAgain() throws {
        try Scratch.with("history") { scratch in
            let path = "\(scratch.path)/s"
            let store = try Store.open(path, creating: true)
            let journal = try Journal.open(in: store)
            var recent = RecentEvents()
            try recent.update(from: path)
            #expect(recent.events.groups.isEmpty)
            var number: Int64 = 0
            for count in [1, 0, 3, 49, 1, 12_000, 2] {
                try journal.append(
                    (0..<count).map { _ in
                        number += 1
                        return Event(seq: number, time: "T", type: number % 7 == 0 ? .renamed : .purge)
                    })
                try recent.update(from: path)
                let expected = Array((0...number).filter { $0 > 0 && $0 % 7 != 0 }.suffix(100))
                #expect(recent.events.groups.map(\.last.seq) == expected)
            }
            journal.close()
            let other = "\(scratch.path)/t"
            let second = try Journal.open(in: try Store.open(other, creating: true))
            try second.append([Event(seq: 1, time: "T", type: .mount)])
            second.close()
            try recent.update(from: other)
            #expect(recent.events.groups.map(\.last.type) == [.mount])
        }
    }

    @Test func momentsAndDurations() throws {
        #expect(Since(text: "2026-11-21") == .moment(Instant(seconds: 1_795_219_200, nanoseconds: 0)))
        #expect(Since(text: "10m") == .span(TimeSpan(seconds: 600)))
        #expect(Since(text: "10") == nil && Since(text: "now") == nil && Since(text: "-10m") == nil)
        let now = Instant(seconds: System.now() / 1_000_000_000, nanoseconds: 0)
        let day = try Since.span(TimeSpan(seconds: 3 * 86400)).time { () throws(CommandFailure) in 2 * 86400 }
        // Three days before the device's clock, which is two days ahead, is one day ago.
        #expect(day >= now.advanced(by: TimeSpan(seconds: -86400)).iso8601)
        #expect(day < now.advanced(by: TimeSpan(seconds: -86400 + 600)).iso8601)
        let moment = try Since.moment(Instant(seconds: 0, nanoseconds: 0)).time { () throws(CommandFailure) in 9 }
        #expect(moment == "1970-01-01T00:00:00.000Z")
    }
}
