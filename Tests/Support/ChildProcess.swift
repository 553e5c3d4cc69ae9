import CContainerCalls
import Foundation
import Glibc
import Synchronization

/// A program started by a test, in its own session and with its output in files. On Linux 5.9 and later it has no copies of the
/// test's descriptors, not even for a moment: see `container_spawn`.
public final class ChildProcess: Sendable {
    public let pid: pid_t
    public let arguments: [String]
    public let outputPath: String
    public let errorPath: String
    /// The exit status as a shell reports it: 128 + N if signal N ended the program. Nil until waitpid(2) has returned it.
    private let ended = Mutex<Int32?>(nil)

    /// Starts `arguments`, looked up in PATH. Standard input is empty unless `input` names a file.
    public init(
        _ arguments: [String], output: String, errors: String, input: String = "/dev/null",
        environment: [String: String] = [:]
    ) throws {
        self.arguments = arguments
        outputPath = output
        errorPath = errors
        // The test's variables come last: a daemon that purgefs forks shows its arguments in place of the first ones.
        let inherited = ProcessInfo.processInfo.environment.filter {
            environment[$0.key] == nil && !["GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"].contains($0.key)
        }
        let variables = [inherited, environment].flatMap {
            $0.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        }
        let new = O_WRONLY | O_CREAT
        let files = try [OpenFile(input, O_RDONLY), OpenFile(output, new), OpenFile(errors, new)]
        var process = pid_t()
        let code = withCStrings(arguments) { argv in
            withCStrings(variables) { envp in
                withExtendedLifetime(files) { container_spawn(argv, envp, files.map(\.descriptor), &process) }
            }
        }
        guard code == 0 else {
            throw TestFailure("cannot start \(arguments[0]): \(String(cString: strerror(code)))")
        }
        pid = process
    }

    /// Returns the exit status, or nil if the program is still running.
    public func status() -> Int32? {
        ended.withLock { ended in
            if let ended { return ended }
            var raw: Int32 = 0
            guard waitpid(pid, &raw, WNOHANG) == pid else { return nil }
            let signal = raw & 0x7f
            ended = signal == 0 ? (raw >> 8) & 0xff : 128 + signal
            return ended
        }
    }

    /// Waits until the program has left the test's working directory or has ended, but at most five seconds, because the change
    /// of the directory may hang.
    func awaitArrival() {
        func directory(of process: String) -> String? {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd")
        }
        let deadline = Date(timeIntervalSinceNow: 5)
        while status() == nil, Date() < deadline, directory(of: "\(pid)") == directory(of: "self") { usleep(1000) }
    }

    /// Waits for the end of the program; kills its group and throws after the time limit.
    @discardableResult
    public func wait(within seconds: Double) throws -> Int32 {
        do {
            try eventually(within: seconds, "end of \(arguments.joined(separator: " "))") { status() != nil }
        } catch {
            signalGroup(SIGKILL)
            try? eventually(within: 5, "death") { status() != nil }
            throw error
        }
        return status() ?? -1
    }

    /// Sends a signal. After the program's end this does nothing, because another process may have its PID.
    public func signal(_ number: Int32) { if status() == nil { kill(pid, number) } }
    public func signalGroup(_ number: Int32) { if status() == nil { kill(-pid, number) } }

    public var output: String { Files.text(outputPath) }
    public var errors: String { Files.text(errorPath) }
}

/// Calls `body` with a NULL-terminated array of C strings.
func withCStrings<R>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) throws -> R
) rethrows -> R {
    var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
    pointers.append(nil)
    defer { pointers.forEach { free($0) } }
    return try body(&pointers)
}
