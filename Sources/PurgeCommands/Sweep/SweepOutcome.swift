import PurgeModel
import PurgeSystem

/// How a trial has ended.
enum SweepOutcome: Hashable {
    /// The check succeeded.
    case held
    /// The check failed, or the run exceeded its time limit.
    case failed(String)
    /// COMMAND made fewer calls than in the counting run, so that the fault did not occur.
    case notReached
    /// purgefs itself failed.
    case broken(String)

    var word: String {
        switch self {
        case .held: "held"
        case .failed: "failed"
        case .notReached: "notReached"
        case .broken: "broken"
        }
    }

    var detail: String? {
        switch self {
        case .held, .notReached: nil
        case .failed(let text), .broken(let text): text
        }
    }
}

/// A trial with its outcome.
struct SweepResult {
    let trial: SweepTrial
    var outcome: SweepOutcome
    /// Whether the fault met a call on another path than in the counting run: COMMAND took another course before it.
    var tookAnotherCourse = false
    /// The last line of the output of COMMAND and the check.
    var lastLine: String?
}
