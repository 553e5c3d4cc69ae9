import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

/// One `purgefs run` of a sweep, with its files in a directory of its own.
struct SweepProcess {
    /// What all runs of a sweep have in common.
    struct Common {
        /// The options of the device, and of its content.
        var options: [String]
        /// The options without --state, for a run of what has survived a loss of power.
        var optionsWithoutState: [String]
        var check: String
        var command: [RawText]
        var mask: SignalSet
        /// The directory for the files of the runs.
        var directory: String
    }

    /// The time, in nanoseconds, that a run has to end after SIGTERM before its processes are killed, and then once more
    /// before the run itself is killed.
    private static let patience: Int64 = 5_000_000_000

    let pid: pid_t
    private let place: String
    /// An entry of the environment that only the processes of this run have.
    private var mark: String { "PURGEFS_SWEEP_RUN=\(place)" }
    private let deadline: Int64?
    private var killAt: Int64?
    private(set) var isLate = false
    private var processEnd: ProcessEnd?
    /// Whether what was left has got SIGKILL.
    private var areKilled = false

    private struct Key: Hashable {
        let pid: pid_t
        let begin: UInt64
        init(_ process: ProcessStatus) { (pid, begin) = (process.pid, process.begin) }
    }
    private struct Descendant {
        let status: ProcessStatus
        /// Whether it has been asked to end.
        var isAsked: Bool
    }
    /// COMMAND and what it has started, once they are to end.
    private var descendants: [Key: Descendant] = [:]

    /// Starts a run of COMMAND with these faults or, with `command`, a run that recreates the state after a loss of power.
    /// `limit` is the longest time that the run may take, in nanoseconds.
    init(
        _ common: Common, name: String, faults: [String] = [], options more: [String] = [],
        command: [RawText]? = nil, check: String? = nil, limit: Int64?
    ) throws(CommandFailure) {
        place = "\(common.directory)/\(name)"
        let shell = ["sh", "-c", "exec \"$@\" >>\"$0\" 2>&1 </dev/null", place + ".out", Places.ownBinary()]
        let options =
            [
                "run", "--quiet", "--end-with-parent", "\(getpid())", "--events", place + ".events", "--summary",
                place + ".summary",
            ]
            + (command == nil ? common.options : common.optionsWithoutState)
            + faults.flatMap { ["--fault", $0] } + more + ["--check", check ?? common.check, "--"]
        let words = (shell + options).map { Array($0.utf8CString) } + (command ?? common.command)
        do throws(Errno) {
            let environment = System.environment() + [Array("PURGEFS_SWEEP_RUN=\(place)".utf8CString)]
            pid = try System.spawn(words, environment: environment, mask: common.mask)
        } catch { throw CommandFailure("cannot start a run", path: Places.ownBinary(), error) }
        deadline = limit.map { System.uptime() + $0 }
    }

    /// The number of bytes of output after which it is dropped: only its end is of interest.
    private static let longestOutput: Int64 = 1 << 20

    /// Drops output that has become too long, and ends the run if its time is over. Called again and again until the run has
    /// ended.
    mutating func enforceLimits() {
        do throws(Errno) {
            if try System.status(ofPath: place + ".out").st_size > Self.longestOutput {
                try System.truncate(place + ".out", 0)
            }
        } catch {}  // there is no output yet
        let now = System.uptime()
        if killAt == nil, let deadline, now > deadline {
            isLate = true
            end()
        } else if let killAt {
            signalDescendants(now > killAt ? SIGKILL : SIGTERM)
            if now > killAt { areKilled = true }
            if now > killAt + Self.patience { kill(SIGKILL) }
        }
    }

    /// Asks COMMAND to end. Its descendants are asked when it had the time to, because a shell whose child ends goes on.
    mutating func end() {
        if killAt == nil { killAt = System.uptime() + Self.patience }
        noteDescendants()
        kill(SIGTERM)
    }

    /// Returns how the run has ended; nil if it has not, or something that it was to end has not.
    mutating func ended() throws(Errno) -> ProcessEnd? {
        if processEnd == nil { processEnd = try System.wait(for: pid, blocking: false) }
        guard let killAt, processEnd != nil else { return processEnd }
        let isOver = descendants.isEmpty || (areKilled && System.uptime() > killAt + Self.patience)
        return isOver ? processEnd : nil
    }

    /// Finds COMMAND and what it has started. Processes that have lost their parent are known by their environment.
    private mutating func noteDescendants() {
        let noted = descendants
        var roots = noted.values.compactMap { ProcessStatus(of: $0.status.pid) }.filter { noted[Key($0)] != nil }
        if processEnd == nil, let run = ProcessStatus(of: pid) { roots.append(run) }
        let known = Set(roots.map(\.pid))
        roots += System.processes().filter { !known.contains($0) && System.environment(of: $0, has: mark) }
            .compactMap { ProcessStatus(of: $0) }
        descendants = [:]
        for process in ProcessStatus.trees(of: roots)
        where process.pid != pid && !process.hasEnded && !Self.isDaemon(process) {
            descendants[Key(process)] = Descendant(
                status: process, isAsked: noted[Key(process)]?.isAsked ?? Self.isOwn(process.parent))
        }
    }

    /// Sends each descendant SIGTERM once, or SIGKILL. COMMAND itself has got SIGTERM from its run.
    private mutating func signalDescendants(_ signal: Int32) {
        noteDescendants()
        for (key, descendant) in descendants where signal == SIGKILL || !descendant.isAsked {
            do throws(Errno) { try System.signal(descendant.status.pid, signal) } catch {}  // it has ended
            descendants[key]?.isAsked = true
        }
    }

    private func kill(_ signal: Int32) {
        guard processEnd == nil else { return }  // another process may have the pid
        do throws(Errno) { try System.signal(pid, signal) } catch {}  // it has ended
    }

    /// Whether this is a daemon of the run, or a run within it: it executes our own binary, and so does its parent.
    private static func isDaemon(_ process: ProcessStatus) -> Bool { isOwn(process.pid) && isOwn(process.parent) }

    private static func isOwn(_ pid: pid_t) -> Bool {
        Places.resolved("/proc/\(pid)/exe") == ownBinary
    }
    private static let ownBinary = Places.resolved("/proc/self/exe")

    /// The events of the run, in order.
    func events() throws(CommandFailure) -> [Event] {
        try text(".events").split(separator: "\n").compactMap { Self.decode(Event.self, String($0)) }
    }

    /// The differences because of which a loss of power could not be replayed; empty if it could.
    func replayFailure() throws(CommandFailure) -> String { try text(".failure") }

    struct Summary: Decodable {
        var verdict: String
        var commandStatus: Int32?
    }

    /// The summary; nil if there is none.
    func summary() throws(CommandFailure) -> Summary? { Self.decode(Summary.self, try text(".summary")) }

    /// The last lines, and at most 200 characters of each, that COMMAND or the check has written.
    func lastLines(_ count: Int = 1) throws(CommandFailure) -> String? {
        let lines = try text(".out", end: 64 << 10).split(whereSeparator: \.isNewline).suffix(count)
        return lines.isEmpty ? nil : lines.map { VisibleText.of(String($0.prefix(200))) }.joined(separator: "\n  ")
    }

    /// Decodes what a run has written; nil for text that was cut off because the run was killed.
    private static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) -> Value? {
        do { return try JSONText.decode(type, from: text) } catch { return nil }
    }

    /// Returns a file of the run, or only the last bytes of it.
    private func text(_ name: String, end: Int64 = .max) throws(CommandFailure) -> String {
        do throws(Errno) {
            let file = try FileDescriptor.open(place + name, O_RDONLY)
            let skipped = max(0, Int64(try System.status(file.raw).st_size) - end)
            if skipped > 0 { _ = try System.seek(file.raw, skipped, SEEK_SET) }
            return String(decoding: try file.readToEnd(), as: UTF8.self)
        } catch .noEntry { return "" } catch { throw CommandFailure("cannot read", path: place + name, error) }
    }

    /// Removes the files of the run.
    func removeFiles() {
        for end in [".out", ".events", ".summary", ".failure"] {
            do throws(Errno) { try System.unlink(at: AT_FDCWD, place + end) } catch {}  // the directory goes too
        }
    }
}
