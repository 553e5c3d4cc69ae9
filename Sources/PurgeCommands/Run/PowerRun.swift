import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

/// `purgefs run --fault WHEN=power`: one run of COMMAND in another container, which is recorded until the power fails, and then
/// a run in the container itself that makes the changes which have survived (docs/POWER.md).
struct PowerRun {
    private static let passedOn = SignalSet(SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2)
    private static let watched = passedOn.union(SignalSet(SIGCHLD))

    private let invocation: Invocation
    private let rule: FaultRule
    private let loss: PowerLoss
    /// The other rules of `--fault`.
    private let others: [String]

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

    func run() throws(CommandFailure) -> Int32 {
        let mask: SignalSet
        let (record, events): (FileDescriptor, FileDescriptor)
        do throws(Errno) {
            mask = try System.block(Self.watched)
            (record, events) = (try System.makeMemoryFile("record"), try System.makeMemoryFile("events"))
        } catch { throw failure("\(error)") }
        defer { withExtendedLifetime((record, events)) {} }
        let first = try start(
            firstOptions(record, events) + ["--"], invocation.rawOperands, mask)
        let (end, wasToEnd) = try wait(for: first)
        if wasToEnd || end.exitStatus == ExitStatus.runFailed { return end.exitStatus }
        let replay: [String]
        do throws(Errno) { replay = try replayWords(record, events, after: end) } catch { throw failure("\(error)") }
        let second = try start(options(Self.own) + ["--"], replay.map { Array($0.utf8CString) }, mask)
        return try wait(for: second).end.exitStatus
    }

    private func failure(_ why: String) -> CommandFailure {
        CommandFailure(status: ExitStatus.runFailed, message: "run: cannot let the power fail: \(why)")
    }

    private func wait(for run: RunningCommand) throws(CommandFailure) -> (end: ProcessEnd, wasToEnd: Bool) {
        try run.wait(signals: Self.watched, passedOn: Self.passedOn, hasLostContainer: { false })
    }

    private func start(
        _ options: [String], _ command: [RawText], _ mask: SignalSet
    ) throws(CommandFailure) -> RunningCommand {
        try RunningCommand.start(
            ([Places.ownBinary(), "run"] + options).map { Array($0.utf8CString) } + command,
            environment: System.environment(), mask: mask, directory: nil, beside: 0)
    }

    /// The options of the user's command line that concern the container afterwards.
    private static let own: [OptionSpec] =
        [.store, .copyOf, .seed] + OptionSpec.mounting + [
            .check, .signals, .failOn, .eventsFile, .summaryFile, .reportFile, .annotate, .traceFile, .quiet,
        ]

    private func options(_ specs: [OptionSpec]) -> [String] {
        let arguments = invocation.arguments
        return specs.flatMap { option -> [String] in
            switch option.value {
            case .none: arguments.has(option) ? [option.text] : []
            case .optionalChoice: arguments.texts(option).map { $0.isEmpty ? option.text : "\(option.text)=\($0)" }
            default: arguments.texts(option).flatMap { [option.text, $0] }
            }
        }
    }

    private func firstOptions(_ record: FileDescriptor, _ events: FileDescriptor) -> [String] {
        // The store keeps its content until the changes that have survived are known.
        let store = invocation.arguments.text(.store).flatMap { Target.isStore($0) ? $0 : nil }
        let content = store.map { [OptionSpec.copyOf.text, $0] } ?? options([.copyOf, .seed])
        let recording = ["--quiet", "--record", path(of: record), "--data", "--events", path(of: events)]
        let faults = (others + [killingRule]).flatMap { ["--fault", $0] }
        return recording + content + options(OptionSpec.mounting + [.at, .signals, .chdir]) + faults
    }

    /// The rule that ends the first run.
    private var killingRule: String { "\(rule.condition)=kill" }

    /// A path that leads other processes to an open file of this one.
    private func path(of file: FileDescriptor) -> String { "/proc/\(getpid())/fd/\(file.raw)" }

    /// The command that makes the surviving changes. Without an event of the rule, the power fails after the last call.
    private func replayWords(
        _ record: FileDescriptor, _ events: FileDescriptor, after end: ProcessEnd
    ) throws(Errno) -> [String] {
        let text = String(decoding: try FileDescriptor.open(path(of: events), O_RDONLY).readToEnd(), as: UTF8.self)
        let events = text.split(separator: "\n").compactMap(Self.event)
        let moment = events.first { $0.type == .fault && $0.reason == killingRule }?.cause
        if moment == nil {
            invocation.console.warn(
                "run: \(VisibleText.of(rule.text)): no call matched, so the power fails after the last")
        }
        return Self.replay(loss, before: moment, status: end.exitStatus, path(of: record))
    }

    private static func event(_ line: Substring) -> Event? {
        // The last line may be cut off.
        do { return try JSONText.decode(Event.self, from: String(line)) } catch { return nil }
    }

    /// The command that makes the changes of a record which survive a loss of power, and ends as COMMAND has ended: killed at
    /// the loss, or with `status` before it.
    static func replay(_ loss: PowerLoss, before moment: String?, status: Int32 = 0, _ record: String) -> [String] {
        let status = moment == nil ? status : ExitStatus.signal + SIGKILL
        let script = "\"$@\" \"$HOME\" || exit \(ExitStatus.runFailed); exit \(status)"
        var words = ["sh", "-c", script, "sh", Places.ownBinary(), "replay"]
        words += ["--power", loss.rest.rawValue, "--power-seed", "\(loss.seed)"]
        if let moment { words += ["--before", moment] }
        return words + [record]
    }
}
