import Glibc
import PurgeSystem

extension OptionSpec {
    fileprivate static let watch = OptionSpec("watch", "show it again every second, until interrupted")
}

extension Verb {
    static let status = Verb(
        name: "status", summary: "show the storage of a container",
        synopsis: "[TARGET] [--json] [--watch]",
        description: [
            "Shows what the simulated device has, what is in use and by what, which capacity each kind of write "
                + "finds, the pressure, and what was purged and refused so far.",
            HelpText.targetMeaning,
        ],
        options: [
            OptionSpec("json", "print status.json as it is; with --watch one line each time"), OptionSpec.watch,
        ],
        operands: 0...1, exitStatus: plainExitStatus
    ) { (invocation) throws(CommandFailure) in
        guard invocation.arguments.has(.watch) else {
            try StatusVerb.show(invocation)
            return ExitStatus.done
        }
        return try StatusVerb.watch(invocation)
    }
}

private enum StatusVerb {
    private static let ends = SignalSet(SIGINT, SIGTERM)

    static func show(_ invocation: Invocation) throws(CommandFailure) {
        let asJSON = invocation.arguments.has(.json)
        let console = invocation.console
        try Target.with(invocation.arguments.operands.first, forReading: console) { (control) throws(CommandFailure) in
            guard asJSON else {
                for line in StatusText(report: try control.status(), bar: .forLocale()).lines {
                    try console.print(line)
                }
                return
            }
            let text = try control.content(of: "status.json")
            let lines = text.split(separator: "\n")
            try console.print(
                invocation.arguments.has(.watch)
                    ? lines.map { $0.trimmed }.joined(separator: " ") : lines.joined(separator: "\n"))
        }
    }

    /// The target is found anew each time, because a store may be mounted or unmounted meanwhile.
    static func watch(_ invocation: Invocation) throws(CommandFailure) -> Int32 {
        do throws(Errno) {
            _ = try System.block(ends)
        } catch { throw CommandFailure("cannot watch", path: "signals", error) }
        let console = invocation.console
        let clearing = console.isTerminal && !invocation.arguments.has(.json)
        while true {
            if clearing { try console.write("\u{1B}[H\u{1B}[2J") }
            try show(invocation)
            if !clearing && !invocation.arguments.has(.json) { try console.print("") }
            try console.flush()
            do throws(Errno) {
                if try System.nextSignal(of: ends, milliseconds: 1000) != nil { return ExitStatus.done }
            } catch { throw CommandFailure("cannot watch", path: "signals", error) }
        }
    }
}
