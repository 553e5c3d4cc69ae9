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
        var check: String
        var command: [RawText]
        var mask: SignalSet
        /// The directory for the files of the runs.
        var directory: String
    }

    /// Waits for a run that has got SIGTERM, in nanoseconds, before its processes are killed.
    private static let patience: Int64 = 5_000_000_000

    let pid: pid_t
    private let place: String
    private let deadline: Int64?
    private var killAt: Int64?
    private(set) var isLate = false

    /// Starts COMMAND with these faults. `limit` is its longest time, in nanoseconds.
    init(_ common: Common, name: String, faults: [String], limit: Int64?) throws(CommandFailure) {
        place = "\(common.directory)/\(name)"
        let shell = ["sh", "-c", "exec \"$@\" >\"$0\" 2>&1 </dev/null", place + ".out", Places.ownBinary()]
        let options =
            ["run", "--quiet", "--events", place + ".events", "--summary", place + ".summary"] + common.options
            + faults.flatMap { ["--fault", $0] } + ["--check", common.check, "--"]
        let words = (shell + options).map { Array($0.utf8CString) } + common.command
        do throws(Errno) {
            pid = try System.spawn(words, environment: System.environment(), mask: common.mask)
        } catch { throw CommandFailure("cannot start a run", path: Places.ownBinary(), error) }
        deadline = limit.map { System.uptime() + $0 }
    }

    /// Ends the run if its time is over. Called again and again until the run has ended.
    mutating func enforceLimit() {
        let now = System.uptime()
        if killAt == nil, let deadline, now > deadline {
            isLate = true
            end()
        }
        if let killAt, now > killAt { killProcesses() }
    }

    /// Asks COMMAND to end.
    mutating func end() {
        killAt = System.uptime() + Self.patience
        do throws(Errno) { try System.signal(pid, SIGTERM) } catch {}  // it has ended
    }

    /// Kills COMMAND and what it has started. The daemon, in a session of its own, then removes the container.
    private func killProcesses() {
        guard let run = ProcessStatus(of: pid) else { return }
        for process in ProcessStatus.tree(of: run) where process.pid != pid && getsid(process.pid) == getsid(0) {
            do throws(Errno) { try System.signal(process.pid, SIGKILL) } catch {}  // it has ended
        }
    }

    /// The events of the run, in order.
    func events() throws(CommandFailure) -> [Event] {
        try text(".events").split(separator: "\n").compactMap { Self.decode(Event.self, String($0)) }
    }

    /// The verdict of the summary; nil if there is none.
    func verdict() throws(CommandFailure) -> String? {
        struct Summary: Decodable { var verdict: String }
        return Self.decode(Summary.self, try text(".summary"))?.verdict
    }

    /// The last line that COMMAND or the check has written.
    func lastLine() throws(CommandFailure) -> String? {
        try text(".out").split(separator: "\n").last.map { VisibleText.of(String($0.prefix(200))) }
    }

    /// Decodes what a run has written; nil for text that was cut off because the run was killed.
    private static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) -> Value? {
        do { return try JSONText.decode(type, from: text) } catch { return nil }
    }

    private func text(_ end: String) throws(CommandFailure) -> String {
        do throws(Errno) {
            return String(decoding: try FileDescriptor.open(place + end, O_RDONLY).readToEnd(), as: UTF8.self)
        } catch .noEntry { return "" } catch { throw CommandFailure("cannot read", path: place + end, error) }
    }

    /// Removes the files of the run.
    func removeFiles() {
        for end in [".out", ".events", ".summary"] {
            do throws(Errno) { try System.unlink(at: AT_FDCWD, place + end) } catch {}  // the directory goes too
        }
    }
}
