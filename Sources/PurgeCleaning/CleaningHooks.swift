import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

/// The commands that replace the class methods of a list.
struct CleaningHooks {
    /// The commands, keyed by `Class.selector` or `Class`.
    private var commands: [String: String] = [:]
    let limit: TimeSpan

    /// Parses the values of --hook, which read NAME=COMMAND.
    init(_ texts: [String], limit: TimeSpan) throws(CommandFailure) {
        self.limit = limit
        for text in texts {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                throw .usage("--hook: '\(text)' is not NAME=COMMAND, where NAME is Class or Class.selector")
            }
            guard commands.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw .usage("--hook: '\(parts[0])' is given twice")
            }
        }
    }

    func command(for call: CleaningCall) -> String? { commands[call.name] ?? commands[call.type] }

    /// Returns warnings about names that no task calls, with the closest match.
    func unused(by tasks: [CleaningTask]) -> [String] {
        var names: [String] = []
        for case .call(let type, let selectors) in tasks { names += [type] + selectors.map { "\(type).\($0)" } }
        return commands.keys.sorted().filter { !names.contains($0) }.map {
            "--hook: no task of the list calls '\($0)'" + Suggestion.hint(for: $0, among: names)
        }
    }
}

/// An invocation of one selector of a task.
struct CleaningCall: Hashable {
    var type: String
    var selector: String
    var name: String { "\(type).\(selector)" }
}

/// How a hook ended.
enum HookEnd: Hashable {
    case ended(ProcessEnd)
    /// The hook was killed for exceeding its limit, with all processes in its group.
    case timedOut
    /// A signal to end this process has arrived, and the hook was ended with all processes in its group.
    case interrupted(signal: Int32)
}

extension CleaningHooks {
    /// The time, in nanoseconds, for a hook to react to SIGTERM.
    private static let grace: Int64 = 1_000_000_000

    /// Returns the environment of `purgefs run`, extended by the class and selector. `container` is the directory of the
    /// container's files.
    static func environment(_ call: CleaningCall, container: String) -> [RawText] {
        let own = [("PURGEFS_CLEAN_CLASS", call.type), ("PURGEFS_CLEAN_SELECTOR", call.selector)]
        return RunEnvironment.make(mountpoint: container) + own.map { Array("\($0)=\($1)".utf8CString) }
    }

    /// Runs a command in the shell. SIGCHLD and the signals that end this process must be blocked.
    func run(_ command: String, _ environment: [RawText]) throws(Errno) -> HookEnd {
        let words = ["sh", "-c", command].map { Array($0.utf8CString) }
        let pid = try System.spawnGroup("/bin/sh", words, environment: environment)
        let end = System.uptime() + limit.seconds * 1_000_000_000
        var signal: Int32?
        while signal == nil, System.uptime() < end {
            if let end = try System.wait(for: pid, blocking: false) { return .ended(end) }
            let rest = max(1, min(1000, (end - System.uptime()) / 1_000_000))
            let ending = SignalSet.ending
            let next = try System.nextSignal(of: ending.union(SignalSet(SIGCHLD)), milliseconds: Int32(rest))
            if let number = next?.number, number != SIGCHLD { signal = number }
        }
        try Self.endGroup(of: pid)
        return signal.map { .interrupted(signal: $0) } ?? .timedOut
    }

    /// Sends SIGTERM to a process group, and SIGKILL once its leader has ended or a grace period is over.
    private static func endGroup(of pid: pid_t) throws(Errno) {
        send(SIGTERM, pid)
        let end = System.uptime() + grace
        // Reaping the process only after the second signal keeps the kernel from reusing the group's number.
        while System.uptime() < end, try System.endedChild() != pid {
            _ = try System.nextSignal(of: SignalSet(SIGCHLD), milliseconds: 20)
        }
        // Kill any processes that the hook has left behind.
        send(SIGKILL, pid)
        _ = try System.wait(for: pid, blocking: true)
    }

    private static func send(_ signal: Int32, _ group: pid_t) {
        do throws(Errno) { try System.signal(-group, signal) } catch {}  // the group is already gone
    }
}
