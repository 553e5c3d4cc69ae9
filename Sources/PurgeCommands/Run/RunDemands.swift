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

    /// Writes the summary.
    func write(_ run: RunSummary) throws(CommandFailure) { try summary?.write(run.json) }

    /// Reports the demands that were met, and returns the status of the run. A COMMAND that has failed keeps its own status.
    func status(after status: Int32, _ events: RunTally, _ console: Console) -> Int32 {
        let met = events.demands.filter { $0.count > 0 }
        if met.isEmpty { return status }
        for demand in met { console.warn("run: --fail-on \(demand.finding)") }
        return status == ExitStatus.done ? ExitStatus.demandFailed : status
    }
}
