import PurgeModel

/// What the caller of `purgefs run` wants to know at its end: a status of its own after certain events, and a summary.
struct RunDemands {
    /// The words of `--fail-on`, and the events that they stand for.
    private static let types: [(word: String, type: EventType)] = [
        ("refused", .refused), ("purged", .purge), ("flagLost", .flagLost), ("protectionDenied", .protectionDenied),
        ("hostFull", .hostFull),
    ]
    static let words = types.map(\.word)

    private let types: [(word: String, type: EventType)]
    private let summary: ReportFile?

    var wantSummary: Bool { summary != nil }

    init(_ arguments: Arguments) throws(CommandFailure) {
        let words = arguments.text(.failOn)?.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        var types: [(word: String, type: EventType)] = []
        for word in words ?? [] {
            guard let found = Self.types.first(where: { $0.word == word }) else {
                throw .usage(
                    "--fail-on: '\(word)' is not one of \(Self.words.joined(separator: ", "))"
                        + Suggestion.hint(for: word, among: Self.words))
            }
            types.append(found)
        }
        self.types = types
        summary = arguments.text(.summaryFile).map { ReportFile(path: $0, kind: "summary") }
    }

    /// A name that cannot be written is reported before anything begins.
    func check(store: String?) throws(CommandFailure) { try summary?.check(store: store) }

    /// `status` is COMMAND's; nil if it was not reached.
    func write(_ run: RunSummary, status: Int32?) throws(CommandFailure) {
        try summary?.write(run.json(status: status))
    }

    /// A COMMAND that has failed keeps its status.
    func status(after status: Int32, _ events: RunTally, _ console: Console) -> Int32 {
        let found = types.map { (word: $0.word, type: $0.type, count: count(of: $0.type, events)) }
            .filter { $0.count > 0 }
        if found.isEmpty { return status }
        for (word, type, count) in found {
            let path = events.firstPaths[type].map { ", the first of \(VisibleText.of($0))" } ?? ""
            console.warn("run: --fail-on \(word): \(count) \(count == 1 ? "event" : "events")\(path)")
        }
        return status == ExitStatus.done ? ExitStatus.demandFailed : status
    }

    /// What other apps have lost is no loss of this one.
    private func count(of type: EventType, _ events: RunTally) -> Int {
        type == .purge ? events.purgedFiles : events.counts[type] ?? 0
    }
}
