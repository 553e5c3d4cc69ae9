import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

/// `purgefs run --fault WHEN=power`: one run of COMMAND in another container, which is recorded until the power fails, and then
/// a run in the container itself that makes the changes which have survived (docs/POWER.md).
struct PowerRun {
    private let invocation: Invocation
    private let rule: FaultRule
    private let loss: PowerLoss
    /// The other rules of `--fault`.
    let others: [String]

    /// nil if no rule of `--fault` is about power.
    init?(_ invocation: Invocation) throws(CommandFailure) {
        let texts = invocation.arguments.texts(.fault)
        var found: (rule: FaultRule, loss: PowerLoss)?
        var others: [String] = []
        for text in texts {
            let rule: FaultRule?
            do throws(FaultRule.Objection) { rule = try FaultRule(text: text) } catch { rule = nil }
            guard let rule, case .power(let loss) = rule.fault else {
                others.append(text)
                continue
            }
            if found != nil { throw .usage("--fault \(VisibleText.of(text)): the power fails only once") }
            found = (rule, loss)
        }
        guard let found else { return nil }
        if invocation.arguments.has(.recordFile) { throw .usage("--record and a fault of power exclude each other") }
        self.invocation = invocation
        (rule, loss, self.others) = (found.rule, found.loss, others)
    }

    /// Files in memory by which the runs tell what they have done.
    private struct Notes {
        let record, events, failure: FileDescriptor

        init() throws(Errno) {
            record = try System.makeMemoryFile("record")
            events = try System.makeMemoryFile("events")
            failure = try System.makeMemoryFile("failure")
        }
    }

    func run() throws(CommandFailure) -> Int32 {
        let mask: SignalSet
        let notes: Notes
        do throws(Errno) {
            mask = try RunSession.blockSignals()
            notes = try Notes()
        } catch { throw failure("\(error)") }
        defer { withExtendedLifetime(notes) {} }
        let (end, wasToEnd) = try wait(for: start(firstOptions(notes) + ["--"], invocation.rawOperands, mask))
        let mayNotHaveRun = [ExitStatus.notExecutable, ExitStatus.notFound].contains(end.exitStatus)
        let hasNotRun = mayNotHaveRun ? try text(of: notes.record).isEmpty : false
        if wasToEnd || hasNotRun || end.exitStatus == ExitStatus.runFailed { return end.exitStatus }
        let replay = try replayWords(notes, after: end).map { Array($0.utf8CString) }
        let status = try wait(for: start(arguments.words(of: Self.own) + ["--"], replay, mask)).end.exitStatus
        guard try text(of: notes.failure).isEmpty else { throw failure("the record cannot be replayed") }
        return status
    }

    private var arguments: Arguments { invocation.arguments }

    private func text(of file: FileDescriptor) throws(CommandFailure) -> String {
        do throws(Errno) {
            return String(decoding: try FileDescriptor.open(path(of: file), O_RDONLY).readToEnd(), as: UTF8.self)
        } catch { throw failure("\(error)") }
    }

    private func failure(_ why: String) -> CommandFailure {
        CommandFailure(status: ExitStatus.runFailed, message: "run: cannot let the power fail: \(why)")
    }

    private func wait(for run: RunningCommand) throws(CommandFailure) -> (end: ProcessEnd, wasToEnd: Bool) {
        try run.wait(signals: RunSession.blocked, passedOn: RunSession.passedOn, hasLostContainer: { false })
    }

    private func start(
        _ options: [String], _ command: [RawText], _ mask: SignalSet
    ) throws(CommandFailure) -> RunningCommand {
        try RunningCommand.start(
            ([Places.ownBinary(), "run"] + options).map { Array($0.utf8CString) } + command,
            environment: System.environment(), mask: mask, directory: nil, beside: 0)
    }

    /// The options that concern the container afterwards. The app is well then, whatever --state says.
    private static let own: [OptionSpec] =
        [.store, .copyOf, .seed] + OptionSpec.mounting.filter { $0 != .state } + [
            .check, .signals, .chdir, .failOn, .eventsFile, .summaryFile, .reportFile, .annotate, .traceFile, .quiet,
        ]

    private func firstOptions(_ notes: Notes) -> [String] {
        // The store keeps its content until the changes that have survived are known.
        let store = arguments.text(.store).flatMap { Target.isStore($0) ? $0 : nil }
        let content = store.map { [OptionSpec.copyOf.text, $0] } ?? arguments.words(of: [.copyOf, .seed])
        let outputs = ["--record", path(of: notes.record), "--data", "--events", path(of: notes.events)]
        let faults = (others + [killingRule]).flatMap { ["--fault", $0] }
        return ["--quiet"] + outputs + content
            + arguments.words(of: OptionSpec.mounting + [.at, .signals, .chdir]) + faults
    }

    /// The rule that ends the first run.
    private var killingRule: String { "\(rule.condition)=kill" }

    /// A path that leads other processes to an open file of this one.
    private func path(of file: FileDescriptor) -> String { "/proc/\(getpid())/fd/\(file.raw)" }

    /// The command that makes the surviving changes. Without an event of the rule, the power fails after the last call.
    private func replayWords(_ notes: Notes, after end: ProcessEnd) throws(CommandFailure) -> [String] {
        let text = try text(of: notes.events)
        let events = text.split(separator: "\n").compactMap(Self.event)
        let moment = events.first { $0.type == .fault && $0.reason == killingRule }?.cause
        if moment == nil, !arguments.has(.quiet) {
            invocation.console.warn(
                "run: \(VisibleText.of(rule.text)): no call matched, so the power fails after the last")
        }
        return Self.replay(
            loss, before: moment, status: end.exitStatus, path(of: notes.record), failure: path(of: notes.failure))
    }

    private static func event(_ line: Substring) -> Event? {
        // The last line may be cut off.
        do { return try JSONText.decode(Event.self, from: String(line)) } catch { return nil }
    }

    /// The command that makes the changes of a record which survive a loss of power, and ends as COMMAND has ended: killed at
    /// the loss, or with `status` before it. If that fails, the file `failure` has the differences, and is not empty.
    static func replay(
        _ loss: PowerLoss, before moment: String?, status: Int32, _ record: String, failure: String
    ) -> [String] {
        let status = moment == nil ? status : ExitStatus.signal + SIGKILL
        let script =
            "\"$@\" \"$HOME\" >\"$0\" || { echo failed >>\"$0\"; cat \"$0\"; exit 1; }; exit \(status)"
        var words = ["sh", "-c", script, failure, Places.ownBinary(), "replay"]
        words += ["--power", loss.rest.rawValue, "--power-seed", "\(loss.seed)"]
        if let moment { words += ["--before", moment] }
        return words + [record]
    }
}
