import Glibc
import PurgeBackup
import PurgeCommandLine
import PurgeContainers
import PurgeSystem

extension OptionSpec {
    static let store = OptionSpec(
        "store", .directory, "the store, which is kept; without it, a temporary store is removed at the end")
    static let copyOf = OptionSpec(
        "copy-of", .directory, "start with a copy of the store DIR; --store must name an empty or a new directory")
    static let seed = OptionSpec(
        "seed", .directory,
        "start with a copy of the content of directory DIR; --store must name an empty or a new directory")
    static let at = OptionSpec(
        "at", .moment(Setting.changes), addsUp: true,
        "change the device this long after COMMAND has begun (0s: before), or when its clock has advanced this much "
            + "(+3d), as `purgefs set` or a control file does. May be repeated")
    static let fault = OptionSpec(
        "fault", .text("RULE"), addsUp: true,
        "let calls of COMMAND fail, be slow, or find a full, purged or locked device, or let the power fail: "
            + "write@Documents/*#3=ENOSPC; docs/FAULTS.md. May be repeated")
    static let check = OptionSpec(
        "check", .text("SHELLCOMMAND"),
        "after COMMAND, whatever its status: end all faults, unlock the device, launch the app, and run SHELLCOMMAND "
            + "(sh -c) in the same container. Its status is then the status of the run")
    static let chdir = OptionSpec("chdir", "start COMMAND in the container instead of the working directory")
    static let failOn = OptionSpec(
        "fail-on", .list("EVENT[:GLOB]", EventDemand.words), addsUp: true,
        "end with \(ExitStatus.demandFailed) if COMMAND ended with 0 and such an event occurred (with GLOB, at a matching "
            + "path): \(EventDemand.words.joined(separator: ", ")). May be repeated")
    static let summaryFile = OptionSpec(
        "summary", .file, "at the end, write a JSON summary of the run to FILE (- is standard output)")
    static let signals = OptionSpec(
        "signals", .choice("on|off", ["on", "off"]),
        "off: do not stop, continue or kill COMMAND when the state of the app changes (on)")
    static let endsWithParent = OptionSpec(
        "end-with-parent", .number("PID"), hidden: true, "get SIGTERM when the parent, process PID, ends")
    static let quiet = OptionSpec("quiet", "print no summary on standard error")
    static let eventsFile = OptionSpec(
        "events", .file, "write the events of this run to FILE (- is standard output), one JSON object per line")
    static let traceFile = OptionSpec(
        "trace", .file, "write a line for each request and event of the container to FILE")
    static let recordFile = OptionSpec(
        "record", .file, "write a line for each call that reads, changes or syncs files to FILE (docs/POWER.md)")
    static let data = OptionSpec(
        "data", "with --record: record what is written, too, so that the calls can be repeated")
    static let reportFile = OptionSpec(
        "report", .file,
        "at the end, write an HTML page about the container to FILE (- is standard output), as `purgefs report` "
            + "does")
}

extension Verb {
    static let run = Verb(
        name: "run", summary: "run a program in a container",
        synopsis: "[options] [--] COMMAND [ARG...]",
        description: [
            "Mounts a store at a path that ends in Containers/Data/Application/UUID, runs COMMAND with that path as "
                + "its home directory, unmounts when COMMAND has ended, and prints a summary. It leaves no mount, no "
                + "daemon and no temporary store behind. Without --chdir the working directory does not change.",
            "SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are passed on to COMMAND. If the container goes "
                + "away while COMMAND runs, COMMAND gets SIGTERM, and SIGKILL 10 seconds later. Processes that COMMAND "
                + "leaves behind in the container lose it; they are named on standard error.",
            "COMMAND is the app. It starts in the foreground. When the app is suspended (--at 5s app.state=suspend), "
                + "COMMAND and its descendants are stopped, until it is launched again. When the system terminates the "
                + "app, they are killed, the summary says why, and the status is 137.",
        ],
        options: [OptionSpec.store, OptionSpec.copyOf, OptionSpec.seed] + OptionSpec.mounting + [
            OptionSpec.at, OptionSpec.fault, OptionSpec.check, OptionSpec.signals, OptionSpec.chdir, OptionSpec.failOn,
            OptionSpec.eventsFile,
            OptionSpec.summaryFile, OptionSpec.reportFile, OptionSpec.annotate, OptionSpec.traceFile,
            OptionSpec.recordFile, OptionSpec.data, OptionSpec.quiet, OptionSpec.endsWithParent,
        ],
        operands: 1...(.max), endsAtFirstOperand: true,
        sections: [HelpSection(title: "ENVIRONMENT OF COMMAND", lines: RunEnvironment.help)],
        exitStatus: [
            .init("N", "COMMAND ended with N"),
            ExitStatus.signalLine("signal N ended COMMAND, or ended purgefs before COMMAND began"),
            ExitStatus.line(ExitStatus.demandFailed),
            ExitStatus.line(ExitStatus.runFailed),
            ExitStatus.line(ExitStatus.notExecutable),
            ExitStatus.line(ExitStatus.notFound),
            ExitStatus.line(ExitStatus.usage, "wrong usage (or COMMAND ended with 64)"),
        ],
        examples: [
            "purgefs run --total 64M -- sh -c 'df -h ~'",
            "purgefs run --seed fixtures --at 2s device.state=lock -- ./MyTests",
        ]
    ) { (invocation) throws(CommandFailure) in try RunVerb.run(invocation) }
}

private enum RunVerb {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> Int32 {
        try endWithParent(invocation.arguments)
        // Checked before anything is created, so that an invalid command line is reported with its own status.
        let request = try invocation.arguments.mountRequest(store: "", mountpoint: "")
        try checkFiles(invocation.arguments)
        warnOfLateOption(invocation)
        let demands = try RunDemands(invocation.arguments)
        let power = try PowerRun(invocation)
        let plan = try RunPlan(
            invocation.arguments.texts(.at), faults: power?.others ?? invocation.arguments.texts(.fault))
        let origin = try origin(invocation.arguments)
        if invocation.arguments.has(.data), !invocation.arguments.has(.recordFile) {
            throw .usage("--data needs --record")
        }
        do throws(CommandFailure) {
            let known = try MountChecks.runForCommand(
                store: invocation.arguments.text(.store), outputs: outputs(invocation.arguments),
                allowsOther: request.allowsOther)
            let report = try RunReport(
                invocation.arguments.text(.reportFile), store: invocation.arguments.text(.store))
            try demands.check(store: invocation.arguments.text(.store))
            if let power { return try power.run() }
            let store = invocation.arguments.text(.store).map { NamedStore(path: $0, known: known) }
            // The file may be a FIFO that has no reader yet; signals must still end a process that waits for one.
            let record = try RunRecord(
                path: invocation.arguments.text(.eventsFile), demands: demands.demands)
            let mask = try blockSignals(invocation)
            return try withExtendedLifetime(known) { () throws(CommandFailure) in
                try RunSession(invocation, plan, origin, store: store, mask: mask)
                    .run(record: record, report: report, demands: demands)
            }
        } catch {
            guard error.status == ExitStatus.failed else { throw error }
            if let signal = System.endSignal() { throw RunSession.interrupted(by: signal) }
            throw CommandFailure(status: ExitStatus.runFailed, message: error.message)
        }
    }

    private static func endWithParent(_ arguments: Arguments) throws(CommandFailure) {
        guard let parent = arguments.text(.endsWithParent).flatMap({ pid_t($0) }) else { return }
        do throws(Errno) { try System.end(withParent: parent) } catch {
            throw CommandFailure(status: ExitStatus.runFailed, message: "run: process \(parent) has ended")
        }
    }

    /// Warns of an option that COMMAND gets although it is probably meant for `run`: without it, a test could pass by mistake.
    private static func warnOfLateOption(_ invocation: Invocation) {
        let own = [OptionSpec.failOn, .at, .fault, .check, .copyOf, .total, .others, .othersPurgeable].map(\.text)
        guard !invocation.arguments.hasTerminator,
            let word = invocation.arguments.operands.dropFirst().first(where: { word in
                own.contains(String(word.prefix { $0 != "=" }))
            })
        else { return }
        invocation.console.warn(
            VisibleText.of(
                "warning: \(word) comes after COMMAND, so COMMAND gets it; options of run come before COMMAND"))
    }

    private static func outputs(_ arguments: Arguments) -> [(path: String, what: String)] {
        var outputs = arguments.daemonOutputs(trace: .traceFile)
        if let record = arguments.text(.recordFile) { outputs.append((record, "record")) }
        if let events = arguments.text(.eventsFile), events != "-" { outputs.append((events, "events")) }
        return outputs
    }

    private static func origin(_ arguments: Arguments) throws(CommandFailure) -> CopyOrigin? {
        switch (arguments.text(.copyOf), arguments.text(.seed)) {
        case (let store?, nil): return .store(store)
        case (nil, let directory?):
            if Target.isStore(directory) { throw .usage("--seed: '\(directory)' is a store; give it with --copy-of") }
            return .directory(directory)
        case (_?, _?):
            throw .usage("--copy-of and --seed exclude each other: make a store with --seed first, then copy it")
        default: return nil
        }
    }

    /// Refuses files that are named twice. The report and the summary replace their files at the end. The trace and the record
    /// empty their files when the daemon starts. The events are written at their own position, over lines that the log has appended.
    private static func checkFiles(_ arguments: Arguments) throws(CommandFailure) {
        for (file, what) in [
            (OptionSpec.reportFile, "report"), (.summaryFile, "summary"), (.traceFile, "trace"),
            (.recordFile, "record"), (.eventsFile, "events"),
        ] {
            // For events, `-` is standard output; for the log, it is a file.
            guard let path = arguments.text(file), file != .eventsFile || path != "-" else { continue }
            for option in [OptionSpec.eventsFile, .log, .traceFile, .recordFile, .reportFile] where option != file {
                guard let other = arguments.text(option), Places.areSame(path, other) else { continue }
                throw .usage(
                    "\(file.text) and \(option.text) name the same file, \(VisibleText.of(path)): the \(what) would "
                        + "overwrite it; name another file")
            }
        }
    }

    private static func blockSignals(_ invocation: Invocation) throws(CommandFailure) -> SignalSet {
        do throws(Errno) {
            return try RunSession.blockSignals()
        } catch { throw CommandFailure("cannot run", path: invocation.arguments.operands[0], error) }
    }
}
