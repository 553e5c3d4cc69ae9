import PurgeCommandLine
import PurgeReport
import PurgeSystem

/// The report of `purgefs run --report` about the store as the run has left it. It is written however COMMAND has ended, even
/// if COMMAND was not started, but not after a failed mount.
struct RunReport {
    private let file: ReportFile

    /// Returns nil if no report is wanted. Throws if the report cannot be written there, so that the run fails before
    /// anything begins.
    init?(_ path: String?, store: String?) throws(CommandFailure) {
        guard let path else { return nil }
        file = ReportFile(path: path)
        try file.check(store: store)
    }

    /// Writes the report. Must be called when the daemon has ended and the store still exists.
    func write(store: String, _ run: ReportContent.Run) throws(CommandFailure) {
        var gathering = ReportGathering(.store(store), run: run)
        let content: ReportContent
        do throws(CommandFailure) {
            content = try gathering.gather(addFindings: ReportContent.addFindings)
        } catch { content = gathering.gatherRemains(of: store, error) }
        try file.check(store: store)
        try file.write(content)
    }
}

extension RunReport {
    /// Describes the end of COMMAND, to follow the program's name in the report.
    static func words(of end: ProcessEnd) -> String {
        switch end {
        case .exited(let status): "ended with \(status)"
        case .killed(let signal): "was killed by signal \(signal)"
        }
    }
}
