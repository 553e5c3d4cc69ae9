internal import CContainerCalls
import Foundation
import Synchronization

/// A program in its own session, away from the terminal's signals. It inherits no descriptor of the tests, not even briefly
/// while it starts, because files of other tests would then count as open.
final class Child: Sendable {
    let pid: pid_t
    /// The exit status in a shell's form, once the ended program has been waited for.
    private let ending = Mutex<Int32?>(nil)

    /// Starts a program, which is looked up in PATH. The three files become its standard input, output and error. Their
    /// descriptors must be in ascending order.
    init(_ words: [String], environment: [String: String], files: [Descriptor]) throws {
        guard words.first?.isEmpty == false else {
            throw ContainerError.cannotRun(words, "the name of a program is the first word")
        }
        let variables = environment.map { "\($0)=\($1)" }
        let numbers = files.map { $0.with { $0 } }
        var process: Int32 = 0
        let code = withCStrings(words) { words in
            withCStrings(variables) { variables in container_spawn(words, variables, numbers, &process) }
        }
        guard code == 0 else { throw ContainerError.cannotRun(words, String(cString: strerror(code))) }
        pid = process
    }

    /// Waits for the program to end. Returns its exit status, or 128 + N after signal N. Returns nil if the program is still
    /// running after `limit`.
    func wait(_ limit: Duration) -> Int32? {
        let begin = ContinuousClock.now
        while true {
            if let status = status() { return status }
            let waited = ContinuousClock.now - begin
            if waited >= limit { return nil }
            usleep(UInt32(Pause.after(waited) / .microseconds(1)))
        }
    }

    /// Waits like `wait`, but without occupying a thread. Throws `CancellationError`.
    func ending(within limit: Duration) async throws -> Int32? {
        let begin = ContinuousClock.now
        while true {
            if let status = status() { return status }
            let waited = ContinuousClock.now - begin
            if waited >= limit { return nil }
            try await Task.sleep(for: Pause.after(waited))
        }
    }

    /// Returns the status if the program has ended. A child that other code has waited for counts as ended with status 0.
    func status() -> Int32? {
        ending.withLock { ending in
            if let ending { return ending }
            var raw: Int32 = 0
            let waited = waitpid(pid, &raw, WNOHANG)
            if waited == 0 || (waited == -1 && errno == EINTR) { return nil }
            let signal = raw & 0x7f
            ending = waited == -1 ? 0 : signal == 0 ? (raw >> 8) & 0xff : 128 + signal
            return ending
        }
    }

    /// Sends a signal, unless the child has been waited for: its pid may then belong to another process.
    func signal(_ number: Int32) {
        ending.withLock { if $0 == nil { kill(pid, number) } }
    }

    /// Ends the program and the processes in its process group with SIGTERM. SIGKILL follows when the program has ended, and
    /// after two seconds at the latest.
    func endGroup() {
        signalGroup(SIGTERM)
        let deadline = ContinuousClock.now + .seconds(2)
        while isRunning, ContinuousClock.now < deadline { usleep(1000) }
        signalGroup(SIGKILL)
        _ = wait(.seconds(20))
        let end = ContinuousClock.now + .seconds(1)
        while hasGroup, ContinuousClock.now < end { usleep(1000) }
    }

    /// Sends a signal to the group, unless the child has been waited for. Until then the group keeps its number, even if all
    /// its processes have ended.
    private func signalGroup(_ number: Int32) {
        ending.withLock { if $0 == nil { kill(-pid, number) } }
    }

    /// Whether the program is running. The check leaves an ended child unreaped, so that its pid is not reused.
    private var isRunning: Bool {
        ending.withLock { ending in
            var information = siginfo_t()
            return ending == nil && waitid(P_PID, id_t(pid), &information, WEXITED | WNOHANG | WNOWAIT) == 0
                && information.si_signo == 0
        }
    }

    /// Whether any process is still in the group. Until the child has been waited for, the child itself counts.
    var hasGroup: Bool { kill(-pid, 0) == 0 }
}

/// The pause between two checks while waiting: an eighth of the time waited so far, at least 0.5 ms and at most 20 ms.
enum Pause {
    static func after(_ waited: Duration) -> Duration { min(max(waited / 8, .microseconds(500)), .milliseconds(20)) }
}

/// A file descriptor that is closed exactly once, at the latest when its last reference goes away.
final class Descriptor: Sendable {
    private let number: Mutex<Int32>

    init(_ number: Int32) { self.number = Mutex(number) }
    deinit { close() }

    func close() {
        number.withLock { number in
            if number >= 0 { _ = Foundation.close(number) }
            number = -1
        }
    }

    /// Calls `body` with the number, or with -1 after the descriptor was closed. The number stays valid while `body` runs.
    func with<R>(_ body: (Int32) throws -> R) rethrows -> R { try number.withLock { try body($0) } }

    /// Creates a pipe; data written to the second end is read from the first.
    static func pipe() throws -> (read: Descriptor, write: Descriptor) {
        var ends: [Int32] = [-1, -1]
        guard container_pipe(&ends) == 0 else { throw ContainerError.failed("making", "a pipe", errno) }
        return (Descriptor(ends[0]), Descriptor(ends[1]))
    }

    static func anonymousFile() throws -> Descriptor {
        let number = container_anonymous_file()
        guard number >= 0 else { throw ContainerError.failed("making", "a file in memory", errno) }
        return Descriptor(number)
    }

    static func open(_ path: String, _ flags: Int32) throws -> Descriptor {
        let number = Foundation.open(path, flags | O_CLOEXEC)
        guard number >= 0 else { throw ContainerError.failed("opening", path, errno) }
        return Descriptor(number)
    }

    /// Writes a string to a pipe. Errors are ignored, and a pipe without a reader causes no SIGPIPE.
    func send(_ text: String) {
        let bytes = Array(text.utf8)
        with { number in if number >= 0 { _ = container_write(number, bytes, bytes.count) } }
    }

    /// Returns the whole content of a file.
    func content() throws -> Data {
        try with { number in
            var data = Data()
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = pread(number, &buffer, buffer.count, off_t(data.count))
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw ContainerError.failed("reading", "an answer", errno) }
                if count == 0 { return data }
                data.append(contentsOf: buffer[..<count])
            }
        }
    }

    /// Returns the content without surrounding white space; an empty string if it cannot be read.
    func text() -> String {
        let data = (try? content()) ?? Data()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// Calls `body` with the strings in the form of `argv` and `envp`.
private func withCStrings<R>(_ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
    let copies = texts.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    return body(copies + [nil])
}
