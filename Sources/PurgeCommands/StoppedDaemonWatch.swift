import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeSystem

/// Ends this process with a message if the daemon of the verb's container is stopped (SIGSTOP). Calls into the mount would
/// return only when the daemon continues, and a thread that waits for them cannot be interrupted.
struct StoppedDaemonWatch {
    /// The milliseconds before the first check, and between two checks.
    private static let patience: Int64 = 4000

    private let gate = Gate()
    private let thread: WorkThread?

    /// Watches a verb that asks a daemon. The mount is looked up only if the verb takes longer than `patience`.
    init(_ verb: Verb, _ arguments: Arguments) {
        let targets = verb.targets(among: arguments.operands)
        let names = targets.isEmpty ? [getenv(RunEnvironment.mount).map { String(cString: $0) } ?? "."] : targets
        thread =
            verb.asksDaemon && !arguments.has(.watch)
            ? Self.start(gate, names) : nil
    }

    /// Watches code that examines these paths, any of which may lead into the mount of a stopped daemon.
    private init(over paths: [String]) { thread = Self.start(gate, paths) }

    static func with(over paths: [String], _ body: () throws(CommandFailure) -> Void) throws(CommandFailure) {
        let watch = StoppedDaemonWatch(over: paths)
        defer { watch.end() }
        try body()
    }

    func end() {
        gate.advance()
        thread?.join()
    }

    private static func start(_ gate: Gate, _ names: [String]) -> WorkThread? {
        do throws(Errno) {
            return try WorkThread(name: "watch") {
                var found: (mount: String, daemon: pid_t)?
                repeat {
                    if gate.wait(while: 0, milliseconds: patience) { return }
                    found = names.lazy.compactMap(stopped).first
                } while found == nil
                guard let (mount, pid) = found, gate.generation == 0 else { return }
                let failure = CommandFailure(
                    "no answer", path: mount, "its daemon, process \(pid), is stopped",
                    advice: "Continue it: kill -CONT \(pid). Or end it, with errors for programs that use the mount: "
                        + "purgefs unmount --force \(ShellWord.of(mount))")
                Console.standard().warn(failure.message)
                _exit(failure.status)
            }
        } catch { return nil }  // then nobody watches
    }

    /// Returns the mount that the path, as written, leads into, or whose store it is; nil unless the mount's daemon is stopped.
    private static func stopped(_ path: String) -> (mount: String, daemon: pid_t)? {
        guard let entry = MountEntry.holding(path) else { return nil }
        return daemon(of: entry).map { (entry.mountpoint, $0) }
    }

    static func daemon(of entry: MountEntry) -> pid_t? {
        ProcessTable.daemons(of: MountedStore(entry)).first { ProcessTable.status(of: $0)?.state == "T" }
    }
}

extension Verb {
    /// Whether the verb asks a container's daemon, and does nothing else that may take long or must not be cut short.
    fileprivate var asksDaemon: Bool {
        [
            "status", "set", "events", "device", "clock", "app", "policy", "why", "mark", "report", "purge",
            "diagnose",
        ].contains(name)
    }

    /// Returns the operands that name a container or a path in one.
    func targets(among operands: [String]) -> [String] {
        switch name {
        case "set": operands.filter { !$0.contains("=") }
        case "device", "app", "policy": Array(operands.dropFirst())
        case "clock": Array(operands.dropFirst(2))
        default: operands
        }
    }
}
