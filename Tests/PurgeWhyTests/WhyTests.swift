import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Testing

@testable import PurgeWhy

/// Each kind of answer, from a journal that is only a list. The complete texts must equal Answers/why.txt. To accept a change:
/// `PURGEFS_ACCEPT_MESSAGES=1 swift test --filter WhyTests`.
struct WhyTests {
    private static let golden =
        "\(#filePath)".split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/Answers/why.txt"

    @Test(arguments: WhyScenario.all.indices) func answers(index: Int) throws {
        let scenario = WhyScenario.all[index]
        #expect(try scenario.report.answer == scenario.answer, "\(scenario.name)")
    }

    @Test func texts() throws {
        let text = try WhyScenario.all.map { scenario in
            let text = WhyText(report: try scenario.report)
            let lines = scenario.answer == .unknown ? [text.failure.message] : text.lines
            return (["# \(scenario.name)", ""] + lines + ["", ""]).joined(separator: "\n")
        }.joined()
        if getenv("PURGEFS_ACCEPT_MESSAGES") != nil {
            try FileDescriptor.open(Self.golden, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644).writeAll(Array(text.utf8))
        }
        let expected = String(decoding: try FileDescriptor.open(Self.golden, O_RDONLY).readAll(), as: UTF8.self)
        #expect(text == expected)
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test func everyAnswerHasAScenario() {
        #expect(Set(WhyScenario.all.map(\.answer)) == Set(WhyReport.Answer.allCases))
    }

    /// The members of the JSON keep their order.
    @Test func json() throws {
        let scenario = try #require(WhyScenario.all.first { $0.name == "moved to tmp and purged there" })
        let time = ListedEvents.time(1)
        #expect(
            JSONText.encode(try scenario.report).hasPrefix(
                #"{"path":"Documents/a","container":"/srv/app","answer":"purged","event":{"seq":2,"time":"\#(ListedEvents.time(2))","#
                    + #""type":"purge","path":"tmp/x","tier":"caches","bytes":6291456,"reason":"temporary","trigger":"pressure","#
                    + #""lastUse":"2026-11-20T08:00:00.000Z","pressure":"low","realTime":"\#(ListedEvents.time(2))"},"place":"tmp/x","#
                    + #""moves":[{"from":"Documents/a","to":"tmp/x","event":{"seq":1,"time":"\#(time)","#))
    }

    /// The number of queries is bounded, however many events a name has.
    @Test func aNameWithManyEvents() throws {
        let saves = (0..<5000).flatMap { _ in
            [
                Event(type: .replaced, path: "Documents/a", pid: 1, to: "Documents/b"),
                Event(type: .renamed, path: "Documents/b", pid: 1, to: "Documents/a"),
            ]
        }
        let scenario = WhyScenario(
            name: "", answer: .removed, path: "Documents/a",
            events: saves + [Event(type: .removed, path: "Documents/a", pid: 2)])
        let report = try scenario.report
        #expect(report.answer == .removed && report.origins?.first?.event.seq == 10000)
    }

    /// The bound also holds for paths through hundreds of folders.
    @Test func aDeepPathThatWasMovedVeryOften() throws {
        let deep = "/" + (0..<399).map { _ in "x" }.joined(separator: "/")
        let events = (0..<200).map { number in
            Event(type: .renamed, path: "Documents/\(number)", pid: 1, to: "Documents/\(number + 1)")
        }
        let report = try WhyScenario(name: "", answer: .moved, path: "Documents/0" + deep, events: events).report
        #expect(report.isFollowed == false && report.moves?.count == 4000 / 401)
    }

    /// Irrelevant events, however many, do not hide the relevant ones.
    @Test func aNameThatWasRefusedVeryOften() throws {
        let denied = (0..<2000).map { _ in
            Event(type: .protectionDenied, path: "Documents/b", reason: "open complete locked", pid: 3)
        }
        let moved = Event(type: .renamed, path: "Documents/a", pid: 1, to: "Documents/b")
        let removed = Event(type: .removed, path: "Documents/b", pid: 2)
        for (path, place) in [("Documents/a", "Documents/b"), ("Documents/b", nil)] {
            for events in [[moved] + denied + [removed], [moved, removed] + denied] {
                let report = try WhyScenario(name: "", answer: .removed, path: path, events: events).report
                #expect(report.answer == .removed && report.place == place && report.isCertain == nil)
            }
        }
    }

    /// If the file was renamed more often than the search follows, the report does not tell where it is.
    @Test(arguments: [NameHistory.mostMoves, NameHistory.mostMoves + 1]) func aNameThatWasMovedVeryOften(
        count: Int
    ) throws {
        let events = (0..<count).map { number in
            Event(type: .renamed, path: "Documents/\(number)", pid: 1, to: "Documents/\(number + 1)")
        }
        let scenario = WhyScenario(
            name: "", answer: .moved, path: "Documents/0", events: events, others: ["Documents/\(count)"])
        let report = try scenario.report
        let isWhole = count == NameHistory.mostMoves
        #expect(report.answer == .moved && report.isCertain == (isWhole ? nil : false))
        #expect(report.isFollowed == (isWhole ? nil : false) && report.moves?.count == NameHistory.mostMoves)
        let text = WhyText(report: report).lines.joined(separator: " ")
        #expect(text.contains("renamed \(NameHistory.mostMoves - 20) times") && text.count < 4000, "\(text)")
        #expect(text.contains("it was moved to Documents/\(count).") == isWhole)
    }

    /// The lines before the file's own are not decoded. A name that looks like a part of a line must not be taken for it.
    @Test func turns() throws {
        let plan = #"""
            {"reason":"others","bytes":4096}
            {"path":"tmp/\"bytes\":7,","reason":"temporary","bytes":8192}
            {"path":"tmp/ab","reason":"temporary","bytes":100}
            {"path":"tmp/a","reason":"temporary","bytes":4096,"tombstone":true}
            {"path":"tmp/c","reason":"temporary","bytes":4096}
            """#
        let turn = try #require(PurgeTurn.of("tmp/a", in: plan, low: .zero))
        #expect(turn.position == 4 && turn.of == 5 && turn.bytesBefore == ByteCount(4096 + 8192 + 100))
        #expect(turn.reason == "temporary" && turn.tombstone == true)
        #expect(PurgeTurn.of("tmp/d", in: plan, low: .zero) == nil)
    }
}
