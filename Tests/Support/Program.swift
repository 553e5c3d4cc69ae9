import Foundation
import Glibc

/// The exit status and output of a program.
public struct Outcome: Sendable {
    public let arguments: [String]
    /// The exit status; 128 + N if signal N ended the program.
    public let status: Int32
    public let output: String
    public let errors: String

    /// Returns the output of a program that must succeed.
    @discardableResult
    public func succeeded() throws -> String {
        guard status == 0 else { throw TestFailure("\(self)") }
        return output
    }
}

extension Outcome: CustomStringConvertible {
    public var description: String {
        "`\(arguments.joined(separator: " "))` ended with \(status)\n\(output.suffix(2000))\(errors.suffix(2000))"
    }
}

/// Runs real programs: to their end with a hard time limit, or until the caller ends them.
public enum Program {
    /// A Python that starts fast, unlike the shim of a version manager.
    public static let python =
        access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3"

    @discardableResult
    public static func run(
        _ arguments: [String], in directory: String? = nil, input: String = "/dev/null",
        environment: [String: String] = [:], timeout: Double = Scale.patience
    ) throws -> Outcome {
        let child = try start(arguments, in: directory, input: input, environment: environment)
        defer { for path in [child.outputPath, child.errorPath] { unlink(path) } }
        let status = try child.wait(within: timeout)
        return Outcome(arguments: arguments, status: status, output: child.output, errors: child.errors)
    }

    @discardableResult
    public static func run(_ arguments: String..., timeout: Double = Scale.patience) throws -> Outcome {
        try run(arguments, timeout: timeout)
    }

    /// Runs a shell script, with `directory` as the working directory.
    @discardableResult
    public static func shell(_ script: String, in directory: String? = nil, timeout: Double = Scale.patience) throws
        -> Outcome
    {
        try run(["/bin/sh", "-c", script], in: directory, timeout: timeout)
    }

    /// Starts a program that keeps running; the caller must end it. Returns when the program is in `directory`.
    public static func start(
        _ arguments: [String], in directory: String? = nil, input: String = "/dev/null",
        environment: [String: String] = [:]
    ) throws -> ChildProcess {
        let place = ScratchRoot.shared.newName("output")
        let command = directory.map { ["env", "-C", $0] + arguments } ?? arguments
        let child = try ChildProcess(
            command, output: "\(place).out", errors: "\(place).err", input: input, environment: environment)
        if directory != nil { child.awaitArrival() }
        return child
    }
}
