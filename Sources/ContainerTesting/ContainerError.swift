import Foundation

/// Why a container could not do what a test requested. The description has the reason and, where possible, advice.
public enum ContainerError: Error, Hashable, Sendable {
    /// The binary cannot be started: its name, and the system's reason.
    case noProgram(String, String)
    /// A program cannot be started: its command line, and the reason.
    case cannotRun([String], String)
    /// A program exceeded its time limit and was killed: its command line, the limit, and its outcome with the output until
    /// then.
    case tookTooLong([String], Duration, Container.Outcome)
    /// The container could not be created: the message of purgefs.
    case noContainer(String)
    /// The container has ended and can no longer be used: its path.
    case ended(String)
    /// Files of the container were still open at its end: the message of purgefs, with the processes.
    case stillInUse(String)
    /// `purgefs run` failed: its status and its message.
    case endedBadly(Int32, String)
    /// The container was gone before its end, because its daemon was killed or somebody unmounted it: the container's path, and
    /// the message of purgefs.
    case lost(String, String)
    /// The daemon of the container does not answer: the container's path.
    case silent(String)
    /// A control file refused a command: file, command, errno.
    case refused(String, String, Int32)
    /// A system call failed: what was being done, its path or another object, errno.
    case failed(String, String, Int32)
    /// Less was purged than requested: the command, what was purged, and the refused files.
    case purgeIncomplete(String, [Container.Purged], [Container.Refusal])
    /// A file was not purged in time: its path, and the answer of `purgefs why`.
    case notPurged(String, String)
    /// Events were lost, so it is unknown whether a file was purged: the file's path, the number of lost events, and the answer
    /// of `purgefs why`.
    case eventsMissed(String, Int, String)
    /// `fill` cannot leave exactly this much room: the size, and the reason.
    case cannotLeave(Container.Size, String)
    /// The calls of a piece of code cannot be swept: the reason.
    case cannotSweep(String)
    /// The path is not in the container.
    case outside(String)
    /// A verb of purgefs failed: the verb and its message.
    case verbFailed(String, String)
    /// This library cannot read a line of purgefs: the line, and the reason.
    case notUnderstood(String, String)
}

extension ContainerError: CustomStringConvertible, LocalizedError {
    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .noProgram(let name, let reason):
            "\(name) cannot be run (\(reason)). The variable PURGEFS names the binary of purgefs; without it, purgefs "
                + "must be in PATH: `make build` and `make install` in a clone"
        case .cannotRun(let words, let reason): "run(\(words)): it cannot be run: \(reason)"
        case .tookTooLong(let words, let limit, let outcome):
            "run(\(words)) had not ended after \(limit), and was killed; give it more time with `timeLimit:`. Its output: "
                + "\(outcome.output.suffix(1000)); its errors: \(outcome.errors.suffix(1000))"
        case .noContainer(let said): "there is no container: \(said)"
        case .ended(let path): "the container has ended and can no longer be used: \(path)"
        case .stillInUse(let said):
            "the container was still in use at its end; close all files of it before the test ends: \(said)"
        case .endedBadly(let status, let said): "the container ended with status \(status): \(said)"
        case .lost(let path, let said):
            "the container was gone before its end, because its daemon was killed or it was unmounted: \(path)"
                + (said.isEmpty ? "" : "; \(said)")
        case .silent(let path): "the daemon of the container does not answer (was it stopped?): \(path)"
        case .refused(let file, let command, let code):
            "\(file) has refused \(command.debugDescription): \(Self.text(of: code)); docs/CONTROL.md lists its values"
        case .failed(let what, let path, let code): "\(what) of \(path): \(Self.text(of: code))"
        case .purgeIncomplete(let command, let purged, let refused):
            "purging \(command.debugDescription) freed only \(purged.reduce(0) { $0 + $1.bytes }) bytes"
                + refused.map { "\n\($0.path): \($0.refused)" }.joined()
        case .notPurged(let path, let why): "\(path) was not purged. \(why)"
        case .eventsMissed(let path, let count, let why):
            "cannot tell whether \(path) was purged: \(count) events came too fast, and the journal lacks them "
                + "too. \(why)"
        case .cannotLeave(let size, let why): "cannot leave \(size) free: \(why)"
        case .cannotSweep(let why): "cannot sweep the code: \(why)"
        case .outside(let path): "\(path) is not in the container"
        case .verbFailed(let words, let said): "\(words) has failed: \(said)"
        case .notUnderstood(let line, let why):
            "this version of ContainerTesting does not understand this output of purgefs: \(line) (\(why))"
        }
    }

    private static func text(of code: Int32) -> String { String(cString: strerror(code)) }
}
