import Foundation
import Glibc
import Synchronization

/// A program started by a test, in its own process group and with its output in files.
public final class ChildProcess: Sendable {
    public let pid: pid_t
    public let arguments: [String]
    public let outputPath: String
    public let errorPath: String
    /// The exit status as a shell reports it: 128 + N if signal N ended the program. Nil until waitpid(2) has returned it.
    private let ended = Mutex<Int32?>(nil)
    /// The lock held while a child may have copies of our descriptors.
    public static let starting = Mutex(())

    /// Starts `arguments`, looked up in PATH. Standard input is empty unless `input` names a file.
    public init(
        _ arguments: [String], output: String, errors: String, input: String = "/dev/null",
        environment: [String: String] = [:]
    ) throws {
        self.arguments = arguments
        outputPath = output
        errorPath = errors
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        let append = O_WRONLY | O_CREAT | O_APPEND
        posix_spawn_file_actions_addopen(&actions, 1, output, append, 0o644)
        posix_spawn_file_actions_addopen(&actions, 2, errors, append, 0o644)
        Self.closeAllOthers(&actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        Self.useDefaultSignals(&attributes)
        // The test's variables come last: a daemon that purgefs forks shows its arguments in place of the first ones.
        let inherited = ProcessInfo.processInfo.environment.filter { environment[$0.key] == nil }
        let variables = [inherited, environment].flatMap {
            $0.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        }
        pid = try withCStrings(arguments) { argv in
            try withCStrings(variables) { envp in
                var child = pid_t()
                let code = Self.starting.withLock { _ in
                    posix_spawnp(&child, arguments[0], &actions, &attributes, argv, envp)
                }
                guard code == 0 else {
                    throw TestFailure("cannot start \(arguments[0]): \(String(cString: strerror(code)))")
                }
                return child
            }
        }
    }

    /// Makes the child close our descriptors before its execve(2). Otherwise posix_spawn(3) may return before they are closed.
    /// The function is declared for _GNU_SOURCE only, and Swift's Glibc module is built without it.
    private static func closeAllOthers(_ actions: inout posix_spawn_file_actions_t) {
        typealias AddCloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return }
        _ = unsafeBitCast(symbol, to: AddCloseFrom.self)(&actions, 3)
    }

    /// Sets a new process group and default signals. Threads of libdispatch block signals, and a child would inherit the mask.
    private static func useDefaultSignals(_ attributes: inout posix_spawnattr_t) {
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETPGROUP)
        posix_spawnattr_setflags(&attributes, Int16(flags))
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
