import Glibc
import PurgeCommandLine
import PurgeModel
import PurgeSystem

/// The result of a task with a path, or of one call of a task with selectors.
struct CleaningOutcome {
    enum Work: Hashable {
        case path(String)
        case call(CleaningCall)
    }

    /// The reason for a failure, as messages show it.
    struct Failure: Error, Hashable {
        var reason: String
        var advice = ""
    }

    /// The number of the task, from 1.
    let task: Int
    let work: Work
    var files = 0
    var bytes = ByteCount.zero
    /// True if nothing exists at the task's path or, in a dry run, if earlier tasks would have removed it.
    var isMissing = false
    var failure: Failure?

    init(task: Int, _ work: Work) { (self.task, self.work) = (task, work) }

    /// The subject of messages about this outcome.
    var subject: String {
        switch work {
        case .path(let path): VisibleText.of(path)
        case .call(let call): VisibleText.of(call.name)
        }
    }
}

extension CleaningTask {
    /// The path or class, for messages.
    var text: String {
        switch self {
        case .remove(let path, _, _): path
        case .call(let type, _): type
        }
    }
}

extension CleaningOutcome.Failure {
    init(_ refusal: CleaningRefusal, _ what: String) {
        let within = "Write it relative to the container: Library/Caches/images."
        switch refusal {
        case .empty: self.init(reason: "\(what) is empty", advice: within)
        case .absolute: self.init(reason: "\(what) is absolute", advice: within)
        case .goesUp: self.init(reason: "\(what) has a '..' in it", advice: within)
        case .hasZero: self.init(reason: "\(what) has a zero byte in it", advice: "Names cannot contain one.")
        case .reserved: self.init(reason: "\(what) is in the control directory", advice: "Name files of the app.")
        case .everything:
            self.init(
                reason: "\(what) is the whole container",
                advice: "Give it Entries, or use `purgefs app delete` to remove everything.")
        }
    }

    static func noCommand(_ call: CleaningCall) -> Self {
        Self(
            reason: "no --hook names a command for it",
            advice: "Add --hook \(ShellWord.of(call.name + "=COMMAND")), or remove it from the list.")
    }

    /// Creates the failure of a path that leads through a symbolic link, whose own path is `name`.
    static func link(_ name: String) -> Self {
        Self(
            reason: "it leads through a symbolic link, \(name)",
            advice: "Links are not followed: name the folder itself.")
    }
}
