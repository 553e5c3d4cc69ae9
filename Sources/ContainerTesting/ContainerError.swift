import Foundation

/// Why a container could not do what a test has asked for. The description says what to do next.
public enum ContainerError: Error, Hashable, Sendable {
    /// The program cannot be started: its name, and the system's reason.
    case noProgram(String, String)
    /// There is no container; what purgefs says.
    case noContainer(String)
    /// It has ended, so nothing can be asked of it any more.
    case ended(String)
    /// At its end something still had files of it open; what purgefs says, with the processes.
    case stillInUse(String)
    /// `purgefs run` has ended with this status, and has said this.
    case endedBadly(Int32, String)
    /// A control file has refused a command: file, command, errno.
    case refused(String, String, Int32)
    /// A call on a path of the container has failed: what, path, errno.
    case failed(String, String, Int32)
    /// Less was purged than was asked for: the command, what was purged, and what was refused.
    case purgeIncomplete(String, [Container.Purged], [Container.Refusal])
    /// A file was not purged in time; what `purgefs why` says about it.
    case notPurged(String, String)
    /// So much room cannot be left, and why.
    case cannotLeave(Container.Size, String)
    /// This path is not in the container.
    case outside(String)
    /// A verb of purgefs has failed: its words and what it says.
    case verbFailed(String, String)
    /// A line of purgefs that this library cannot read, and why.
    case notUnderstood(String, String)
}

extension ContainerError: CustomStringConvertible, LocalizedError {
    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .noProgram(let name, let reason):
            "\(name) cannot be run (\(reason)). The variable PURGEFS names the binary of purgefs; without it, purgefs "
                + "must be in PATH: `make build` and `make install` in a clone"
        case .noContainer(let said): "there is no container: \(said)"
        case .ended(let path): "the container has ended, and so has every use of it: \(path)"
        case .stillInUse(let said):
            "the container was still in use at its end; close all files of it before the test ends: \(said)"
        case .endedBadly(let status, let said): "the container ended with status \(status): \(said)"
        case .refused(let file, let command, let code):
            "\(file) has refused \(command.debugDescription): \(Self.text(of: code)); docs/CONTROL.md has its values"
        case .failed(let what, let path, let code): "\(what) of \(path): \(Self.text(of: code))"
        case .purgeIncomplete(let command, let purged, let refused):
            "purging \(command.debugDescription) freed \(purged.reduce(0) { $0 + $1.bytes }) bytes only"
                + refused.map { "\n\($0.path): \($0.refused)" }.joined()
        case .notPurged(let path, let why): "\(path) was not purged. \(why)"
        case .cannotLeave(let size, let why): "\(size) cannot be left: \(why)"
        case .outside(let path): "\(path) is not in the container"
        case .verbFailed(let words, let said): "\(words) has failed: \(said)"
        case .notUnderstood(let line, let why):
            "this version of ContainerTesting does not understand what purgefs says: \(line) (\(why))"
        }
    }

    private static func text(of code: Int32) -> String { String(cString: strerror(code)) }
}
