import PurgeCommandLine
import PurgeSystem

/// The result of a run in one phrase, at the beginning of its summary.
enum RunVerdict {
    /// COMMAND ended with 0.
    case passed
    /// COMMAND ended with another status, or by a signal.
    case failed(ProcessEnd)
    /// The command of `--check` ended with 0.
    case checkPassed(after: ProcessEnd)
    /// The command of `--check` failed.
    case checkFailed(ProcessEnd, after: ProcessEnd)
    /// COMMAND, or the check, ended with 0, but there were events of `--fail-on`.
    case failOn(hasCheck: Bool)
    /// The container was gone before COMMAND had ended.
    case lost
    case notStarted

    /// The word in the file of `--summary`.
    var word: String {
        switch self {
        case .passed, .checkPassed: "passed"
        case .failed: "failed"
        case .checkFailed: "checkFailed"
        case .failOn: "failOn"
        case .lost: "lost"
        case .notStarted: "notStarted"
        }
    }

    var text: String {
        switch self {
        case .passed: "COMMAND ended with 0"
        case .failed(let end): "COMMAND \(RunReport.words(of: end))"
        case .checkPassed(let command): "COMMAND \(RunReport.words(of: command)), and the check ended with 0"
        case .checkFailed(let end, let command):
            "COMMAND \(RunReport.words(of: command)), and the check \(RunReport.words(of: end))"
        case .failOn(let hasCheck):
            "\(hasCheck ? "the check" : "COMMAND") ended with 0, but there were events of --fail-on"
        case .lost: "COMMAND has lost its container"
        case .notStarted: "COMMAND was not started"
        }
    }

    var isFailure: Bool {
        switch self {
        case .passed, .checkPassed: false
        case .failed, .checkFailed, .failOn, .lost, .notStarted: true
        }
    }
}
