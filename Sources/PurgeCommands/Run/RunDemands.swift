import PurgeCommandLine
import PurgeModel
import PurgeReport

/// The results that the caller of `purgefs run` wants at its end: a special status after certain events, and a summary.
struct RunDemands {
    /// The demands of `--fail-on`.
    let demands: [EventDemand]
    private let summary: ReportFile?

    var wantSummary: Bool { summary != nil }

    init(_ arguments: Arguments) throws(CommandFailure) {
        var demands: [EventDemand] = []
        for text in arguments.texts(.failOn) {
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                demands.append(try EventDemand(part))
            }
        }
        self.demands = demands
        summary = arguments.text(.summaryFile).map { ReportFile(path: $0, kind: "summary") }
    }

    /// Checks the name of the summary, so that a name that cannot be written is reported before anything begins.
    func check(store: String?) throws(CommandFailure) { try summary?.check(store: store) }

    /// Writes the summary. `status` is COMMAND's, 125 if the container was lost, or nil if COMMAND was not started.
    func write(_ run: RunSummary, status: Int32?) throws(CommandFailure) {
        try summary?.write(run.json(status: status))
    }

    /// Reports the demands that were met, and returns the status of the run. A COMMAND that has failed keeps its own status.
    func status(after status: Int32, _ events: RunTally, _ console: Console) -> Int32 {
        let met = events.demands.filter { $0.count > 0 }
        if met.isEmpty { return status }
        for demand in met {
            let path = demand.firstPath.map { ", the first of \(VisibleText.of($0))" } ?? ""
            let count = "\(demand.count) \(demand.count == 1 ? "event" : "events")"
            console.warn("run: --fail-on \(VisibleText.of(demand.text)): \(count)\(path)")
        }
        return status == ExitStatus.done ? ExitStatus.demandFailed : status
    }
}
