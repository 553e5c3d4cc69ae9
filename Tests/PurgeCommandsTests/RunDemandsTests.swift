import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeCommandLine
@testable import PurgeCommands

struct RunDemandsTests {
    private static let events = [
        Event(type: .refused, path: "Documents/big"), Event(type: .refused, path: "tmp/big"),
        Event(type: .purge, path: "Library/Caches/a,b"), Event(type: .purge, bytes: ByteCount(4096), reason: "others"),
    ]

    /// Returns the status of a run with these events, and its messages.
    private func end(_ words: [String], _ events: [Event], of status: Int32 = 0) throws -> (Int32, String) {
        let demands = try RunDemands(try Arguments(words + ["true"], for: .run))
        var tally = RunTally(demands: demands.demands)
        for event in events { tally.add(event) }
        var messages = ""
        let console = Console { _ in
        } messages: {
            messages += $0
        }
        return (demands.status(after: status, tally, console), messages)
    }

    @Test(arguments: [
        (["refused"], ["refused: 2 events, the first of Documents/big"]),
        (["refused", "flagLost"], ["refused: 2 events, the first of Documents/big"]),
        (["flagLost", "refused"], ["refused: 2 events, the first of Documents/big"]),
        (
            ["flagLost,refused", "purged"],
            [
                "refused: 2 events, the first of Documents/big", "purged: 1 event, the first of Library/Caches/a,b",
            ]
        ),
        (["refused:tmp/*"], ["refused:tmp/*: 1 event, the first of tmp/big"]),
        (["refused:Documents/b?g,refused:Library/*"], ["refused:Documents/b?g: 1 event, the first of Documents/big"]),
        (["purged:*a?b"], ["purged:*a?b: 1 event, the first of Library/Caches/a,b"]),
        (["purged:*"], ["purged:*: 1 event, the first of Library/Caches/a,b"]),
        (["refused:Library/*"], []), (["purged:Documents/*", "hostFull"], []), ([], []),
    ])
    func allDemandsCount(values: [String], lines: [String]) throws {
        let words = values.flatMap { ["--fail-on", $0] }
        let (status, messages) = try end(words, Self.events)
        #expect(messages == lines.map { "purgefs: run: --fail-on \($0)\n" }.joined())
        #expect(status == (lines.isEmpty ? 0 : ExitStatus.demandFailed))
        #expect(try end(words, Self.events, of: 7).0 == 7)
        #expect(try end(words, []).0 == 0)
    }

    @Test(arguments: [
        ("refused:", "'refused:': GLOB is relative to the container: refused:Documents/*"),
        ("purged:/Library/*", "'purged:/Library/*': GLOB is relative to the container: purged:Library/*"),
        ("purged:~/x", "'purged:~/x': GLOB is relative to the container: purged:x"),
        ("purged:tmp//x", "'purged:tmp//x': GLOB is relative to the container: purged:Documents/*"),
        ("purged:tmp/", "'purged:tmp/': GLOB is relative to the container: purged:Documents/*"),
        ("purged: tmp/*", "'purged: tmp/*': GLOB is relative to the container: purged:tmp/*"),
        ("refused,", "'' is not one of refused, purged, flagLost, protectionDenied, hostFull, terminated"),
        (
            "refusd:x",
            "'refusd' is not one of refused, purged, flagLost, protectionDenied, hostFull, terminated; did you mean 'refused'?"
        ),
    ])
    func aDemandThatNothingMeets(text: String, message: String) {
        #expect(throws: CommandFailure.usage("--fail-on: " + message)) { try end(["--fail-on", text], []) }
    }

    /// A run with demands fails if events were lost, because a demand may concern them.
    @Test(arguments: [([], 0), (["refused"], 1)]) func eventsThatAreMissing(demands: [String], failures: Int) throws {
        #expect(try self.failures(demands, [Event(seq: 4, type: .dropped, reason: "3 events")]) == failures)
    }

    /// Refusals beyond 1,024 files a second share one event without a path. A demand with GLOB then cannot be decided, unless
    /// another event meets it.
    @Test(arguments: [
        (["refused:Documents/*"], nil, 1), (["refused:Documents/*"], "Documents/a", 0), (["refused"], nil, 0),
        (["flagLost:*"], nil, 0), ([], nil, 0),
    ])
    func eventsWithoutAPath(demands: [String], other: String?, failures: Int) throws {
        let events = [Event(seq: 4, type: .refused, reason: "796 more, of other files")]
        let more = other.map { [Event(seq: 5, type: .refused, path: $0)] } ?? []
        #expect(try self.failures(demands, events + more) == failures)
    }

    /// Returns the number of failures of a run with these events.
    private func failures(_ demands: [String], _ events: [Event]) throws -> Int {
        let record = try RunRecord(
            path: nil, demands: demands.map { (text) throws(CommandFailure) in try EventDemand(text) })
        return try Scratch.with("demands") { scratch in
            try Files.write(events.map { JSONText.encode($0) + "\n" }.joined(), to: scratch.path + "/line")
            let line = try FileDescriptor.open(scratch.path + "/line", O_RDONLY)
            try record.begin(line, after: 0, store: "/nonexistent/store", mountpoint: "/nonexistent/mount")
            _ = record.end(hasDaemonEnded: true)
            return record.failures(isStoreKept: false).count
        }
    }
}
