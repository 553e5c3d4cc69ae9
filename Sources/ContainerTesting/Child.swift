internal import CContainerCalls
import Foundation
import Synchronization

/// A program in a session of its own, away from the terminal's signals. It inherits no descriptor of the tests, not even
/// for the moment of its start: files of other tests would be in use as long as it has them.
final class Child: Sendable {
    let pid: pid_t
    /// As a shell reports it, once it has ended.
    private let ending = Mutex<Int32?>(nil)

    /// The three files, opened one after the other, become its standard input, output and error output.
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

    /// Waits for its end: its status, 128 + N if signal N ended it; nil if it still runs after so long.
    func wait(_ limit: Duration) -> Int32? {
        let begin = ContinuousClock.now
        while true {
            if let status = status() { return status }
            let waited = ContinuousClock.now - begin
            if waited >= limit { return nil }
            usleep(UInt32(Pause.after(waited) / .microseconds(1)))
        }
    }

    /// The same without a thread that waits. Throws `CancellationError`.
    func ending(within limit: Duration) async throws -> Int32? {
        let begin = ContinuousClock.now
        while true {
            if let status = status() { return status }
            let waited = ContinuousClock.now - begin
            if waited >= limit { return nil }
            try await Task.sleep(for: Pause.after(waited))
        }
    }

    /// If it has ended. A child that somebody else has waited for counts as one that ended with 0.
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

    /// Not if it has been waited for: the number may be another's by now.
    func signal(_ number: Int32) {
        ending.withLock { if $0 == nil { kill(pid, number) } }
    }

    /// Ends it and what it has started, as far as that is in its process group still.
    func endGroup() {
        signalGroup(SIGTERM)
        let deadline = ContinuousClock.now + .seconds(2)
        while isRunning, ContinuousClock.now < deadline { usleep(1000) }
        signalGroup(SIGKILL)
        _ = wait(.seconds(20))
        let end = ContinuousClock.now + .seconds(1)
        while hasGroup, ContinuousClock.now < end { usleep(1000) }
    }

    /// Not if it has been waited for. Until then the group has its number, even if all of it have ended.
    private func signalGroup(_ number: Int32) {
        ending.withLock { if $0 == nil { kill(-pid, number) } }
    }

    /// Does not wait for it: it keeps its number.
    private var isRunning: Bool {
        ending.withLock { ending in
            var information = siginfo_t()
            return ending == nil && waitid(P_PID, id_t(pid), &information, WEXITED | WNOHANG | WNOWAIT) == 0
                && information.si_signo == 0
        }
    }

    /// Once it has been waited for: whether processes that it has started are in its group still.
    var hasGroup: Bool { kill(-pid, 0) == 0 }
}

/// Between two looks at something that is waited for: an eighth of the time so far, and not many looks at what takes long.
enum Pause {
    static func after(_ waited: Duration) -> Duration { min(max(waited / 8, .microseconds(500)), .milliseconds(20)) }
}

/// A descriptor that is closed once, at the latest when nobody has it any more.
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

    /// -1 when it has been closed. The number stays valid as long as `body` runs.
    func with<R>(_ body: (Int32) throws -> R) rethrows -> R { try number.withLock { try body($0) } }

    /// Its ends: what is written to the second is read from the first.
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

    /// Nothing happens where nobody reads it.
    func send(_ text: String) {
        let bytes = Array(text.utf8)
        with { number in if number >= 0 { _ = container_write(number, bytes, bytes.count) } }
    }

    /// All of a file from its beginning.
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

    /// What is in it, without white space at the ends.
    func text() -> String {
        let data = (try? content()) ?? Data()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// The texts as `argv` and `envp` are given.
private func withCStrings<R>(_ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
    let copies = texts.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    return body(copies + [nil])
}
