import PurgeCommandLine
import PurgeContainers

extension OptionSpec {
    static let watch = OptionSpec(
        "watch", "refresh the display every second, until the unmount or Ctrl-C")
}

extension Verb {
    static let status = Verb(
        name: "status", summary: "show the storage of a container",
        synopsis: "[TARGET] [--json] [--watch]",
        description: [
            "Shows the size of the simulated device, its use by the container and by others, how much each kind of "
                + "write may take, the pressure level, and the purges and refusals so far."
        ],
        options: [
            OptionSpec("json", "print status.json unchanged; with --watch, one line per update"), OptionSpec.watch,
        ],
        operands: 0...1,
        exitStatus: [
            ExitStatus.line(ExitStatus.done, "done; with --watch: the container was unmounted"),
            ExitStatus.line(ExitStatus.failed),
            ExitStatus.signalLine("signal N ended --watch: 130 after Ctrl-C"),
            ExitStatus.line(ExitStatus.usage),
        ],
        examples: ["purgefs status ./app"]
    ) { (invocation) throws(CommandFailure) in
        let form = StatusForm(console: invocation.console, asJSON: invocation.arguments.has(.json))
        let text = invocation.arguments.operands.first
        guard !invocation.arguments.has(.watch) else {
            var watch = try StatusWatch(form, text)
            return try watch.run()
        }
        try Target.with(text, forReading: form.console) { (control) throws(CommandFailure) in
            try form.show(control)
            guard control.isMounted else { return }
            let loss = Target.loss(of: try control.status().store, at: control.place, "warning")
            if let loss { form.console.warn(loss.message) }
        }
        return ExitStatus.done
    }
}

/// The form in which a status is printed.
struct StatusForm {
    let console: Console
    let asJSON: Bool

    func show(_ control: any ControlEndpoint) throws(CommandFailure) {
        guard !asJSON else {
            let text = try control.content(of: .status)
            return try console.print(text.split(separator: "\n").joined(separator: "\n"))
        }
        for line in try lines(control) { try console.print(line) }
    }

    func lines(_ control: any ControlEndpoint) throws(CommandFailure) -> [String] {
        StatusText(report: try control.status(), bar: .forLocale()).lines
    }
}
