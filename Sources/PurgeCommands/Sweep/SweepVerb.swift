import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeReport
import PurgeSystem

extension OptionSpec {
    fileprivate static let sweepCheck = OptionSpec(
        "check", .text("SHELLCOMMAND"),
        "the command, run with sh -c, that must succeed in the container afterwards; without it, COMMAND once more")
    fileprivate static let moments = OptionSpec(
        "moments", .list("FAULT", SweepFault.allCases.map(\.rawValue)), addsUp: true,
        "the faults to try: error (EIO), errors (EIO from then on), full, short, purge, lock, power (all of "
            + "them). May be repeated")
    fileprivate static let most = OptionSpec(
        "most", .number("N"), "try at most N faults, evenly spread over the calls")
    fileprivate static let jobs = OptionSpec("jobs", .number("N"), "runs at a time (the number of CPUs)")
    fileprivate static let timeLimit = OptionSpec(
        "time-limit", .duration,
        "the longest time of a run (20 times the first run, at least 30s); one that takes longer has failed")
    fileprivate static let sweepJSON = OptionSpec("json", "print one JSON object with all trials")
    fileprivate static let junit = OptionSpec("junit", .file, "write the results to FILE in the form of JUnit")
    fileprivate static let sweepReport = OptionSpec(
        "report", .file, "write an HTML page with a map of all faults to FILE")
}

extension Verb {
    static let sweep = Verb(
        name: "sweep", summary: "run a program with a fault at each of its calls, and check",
        synopsis: "[options] [--] COMMAND [ARG...]",
        description: [
            "Runs COMMAND once in a fresh container and counts its calls to the file system. Then runs it once more for "
                + "each of these calls and each fault, each time in a fresh container, with that fault at that call. "
                + "The states after a loss of power are made from one recorded run. "
                + "Afterwards the device is well again, and the check must succeed in the same container.",
            "Prints the failures by the kind and path of the call, each with the `purgefs run` that repeats it. "
                + "Standard error shows the progress if it is a terminal.",
            "A COMMAND that makes other calls each time, or in another order, meets the faults elsewhere: such trials "
                + "are counted as on another course.",
        ],
        options: [OptionSpec.copyOf, .seed] + OptionSpec.mounting.filter { $0.name != "log" } + [
            .chdir, .sweepCheck, .moments, .most, .jobs, .timeLimit, .junit, .sweepReport, .sweepJSON,
        ],
        operands: 1...(.max), endsAtFirstOperand: true,
        exitStatus: [
            ExitStatus.line(ExitStatus.done, "the check has succeeded after every fault"),
            ExitStatus.line(ExitStatus.failed, "the check has failed after a fault"),
            ExitStatus.line(ExitStatus.usage),
            ExitStatus.line(ExitStatus.runFailed, "purgefs failed, or the check fails without a fault"),
            ExitStatus.signalLine("signal N ended it"),
        ],
        examples: ["purgefs sweep --moments purge --check 'test -s ~/a' -- sh -c 'date > ~/a'"]
    ) { (invocation) throws(CommandFailure) in try SweepVerb(invocation: invocation).run() }
}

private struct SweepVerb {
    let invocation: Invocation

    func run() throws(CommandFailure) -> Int32 {
        do throws(CommandFailure) { return try sweep() } catch {
            guard error.status == ExitStatus.failed else { throw error }
            throw CommandFailure(status: ExitStatus.runFailed, message: error.message)
        }
    }

    private func sweep() throws(CommandFailure) -> Int32 {
        let arguments = invocation.arguments
        _ = try arguments.mountRequest(store: "", mountpoint: "")
        let most = try number(.most)
        let jobs = try number(.jobs) ?? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let limit = arguments.text(.timeLimit).flatMap { TimeSpan(text: $0) }.map { $0.seconds * 1_000_000_000 }
        let faults = try faults()
        let report = try report()
        let junit = try junit()
        let mask: SignalSet
        do throws(Errno) { mask = try System.block(SweepRun.blocked) } catch {
            throw CommandFailure("cannot begin a sweep", path: "signals", error)
        }
        let area = try Self.area()
        do throws(CommandFailure) {
            do throws(Errno) { try System.makeDirectory(at: AT_FDCWD, area.store, mode: 0o700) } catch {
                throw CommandFailure("cannot make a temporary directory", path: area.store, error)
            }
            let status = try sweep(
                in: area.store, mask, faults, most: most, jobs: jobs, limit: limit
            ) { text throws(CommandFailure) in
                try write(text, junit: junit)
                try report?.write(text.page)
            }
            try area.remove()
            return status
        } catch {
            do throws(CommandFailure) { try area.remove() } catch { invocation.console.warn(error.message) }
            throw error
        }
    }

    private static func area() throws(CommandFailure) -> RunArea {
        let surroundings = Surroundings(mounts: MountEntry.all())
        return try RunArea.make(in: RunArea.candidates(surroundings).first ?? "/tmp")
    }

    private func sweep(
        in directory: String, _ mask: SignalSet, _ faults: [SweepFault], most: Int?, jobs: Int, limit: Int64?,
        write: (SweepText) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> Int32 {
        let command = invocation.rawOperands
        let common = SweepProcess.Common(
            options: options(OptionSpec.mounting),
            optionsWithoutState: options(OptionSpec.mounting.filter { $0 != .state }), check: try check(command),
            command: command, mask: mask, directory: directory)
        let console = invocation.console
        let run = SweepRun(common: common, jobs: jobs, limit: limit)
        let (moments, runLimit) = try run.count()
        let power = faults.contains(.power) ? try run.powerTrials(most: most, limit: runLimit) : []
        let trials = SweepTrial.trials(of: moments, faults, power: power, most: most)
        let progress = isatty(STDERR_FILENO) == 1 ? SweepProgress() : nil
        let results = try run.carryOut(trials, limit: runLimit, progress)
        if progress != nil { console.note("") }
        let text = SweepText(results: results, calls: moments.count, common: common)
        try write(text)
        console.warn("sweep: " + text.summary)
        if let broken = text.broken.first {
            throw CommandFailure(
                status: ExitStatus.runFailed,
                message: "sweep: \(broken.trial.text): \(broken.outcome.detail ?? ""): \(broken.lastLine ?? "")")
        }
        return text.failures == 0 ? ExitStatus.done : ExitStatus.failed
    }

    /// Returns the command of `--check`, or else COMMAND in the quotes of any shell.
    private func check(_ command: [RawText]) throws(CommandFailure) -> String {
        if let check = invocation.arguments.text(.sweepCheck) { return check }
        let words = command.compactMap { String(validating: $0.dropLast(), as: UTF8.self) }
        guard words.count == command.count else { throw .usage("COMMAND is not UTF-8, so --check is needed") }
        // Without `exec`, a signal would end the shell and not COMMAND.
        return (["exec"] + words.map(Self.quoted)).joined(separator: " ")
    }

    private static func quoted(_ word: String) -> String {
        "'" + word.unicodeScalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined() + "'"
    }

    /// Opens the file of `--junit`, before anything is run.
    private func junit() throws(CommandFailure) -> FileDescriptor? {
        guard let path = invocation.arguments.text(.junit) else { return nil }
        do throws(Errno) { return try FileDescriptor.openOutput(path, O_TRUNC) } catch {
            throw CommandFailure("cannot write the results", output: path, error)
        }
    }

    private func report() throws(CommandFailure) -> ReportFile? {
        guard let path = invocation.arguments.text(.sweepReport) else { return nil }
        if path == "-" { throw .usage("--report needs a file, because standard output has the results") }
        if let junit = invocation.arguments.text(.junit), Places.areSame(path, junit) {
            throw .usage("--junit and --report name the same file, \(VisibleText.of(path))")
        }
        let report = ReportFile(path: path)
        try report.check()
        return report
    }

    private func write(_ text: SweepText, junit: FileDescriptor?) throws(CommandFailure) {
        if invocation.arguments.has(.sweepJSON) {
            try invocation.console.write(text.json)
        } else {
            for line in text.lines { try invocation.console.print(line) }
        }
        try invocation.console.flush()
        do throws(Errno) { try junit?.writeAll(Array(text.junit.utf8)) } catch {
            throw CommandFailure("cannot write the results", output: invocation.arguments.text(.junit) ?? "", error)
        }
    }

    private func options(_ mounting: [OptionSpec]) -> [String] {
        invocation.arguments.words(of: [.copyOf, .seed] + mounting + [.chdir])
    }

    private func faults() throws(CommandFailure) -> [SweepFault] {
        let words = SweepFault.allCases.map(\.rawValue)
        let named = Set(invocation.arguments.texts(.moments).flatMap { $0.split(separator: ",") }.map(String.init))
        if let unknown = named.subtracting(words).min() {
            throw .usage("--moments: " + OptionSpec.objection(to: unknown, among: words))
        }
        return SweepFault.allCases.filter { named.isEmpty || named.contains($0.rawValue) }
    }

    private func number(_ option: OptionSpec) throws(CommandFailure) -> Int? {
        guard let text = invocation.arguments.text(option) else { return nil }
        guard let number = Int(text), number > 0 else {
            throw .usage("\(option.text): '\(text)' is not a number above 0")
        }
        return number
    }
}
