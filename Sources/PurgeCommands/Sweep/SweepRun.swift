import Glibc
import PurgeCommandLine
import PurgeModel
import PurgeSystem

/// The runs of a sweep: one that counts the calls of COMMAND, and then one for each trial, several at a time.
struct SweepRun {
    private static let ending = SignalSet.ending
    /// The signals that the caller blocks, and that are fetched here. SIGPIPE is one, so that output without a reader is an
    /// error, and does not end the sweep before its runs.
    static let blocked = ending.union(SignalSet(SIGCHLD, SIGPIPE))

    let common: SweepProcess.Common
    let jobs: Int
    /// The longest time of a run in nanoseconds; nil for a multiple of the counting run's time.
    let limit: Int64?
    /// The default time limit of a run is this many times the duration of the counting run, but at least `leastLimit`.
    private static let limitFactor: Int64 = 20
    private static let leastLimit: Int64 = 30_000_000_000

    private var record: String { "\(common.directory)/record" }

    /// Runs COMMAND without a fault. Returns its calls, and the time limit for the trials.
    func count() throws(CommandFailure) -> (moments: [SweepMoment], limit: Int64) {
        let began = System.uptime()
        // A delay of nothing leaves an event of each call.
        var run = try SweepProcess(
            common, name: "count", faults: MomentKind.allCases.map { "\($0.rawValue)=0ms" },
            limit: limit)
        let end = try wait(for: &run)
        defer { run.removeFiles() }
        let events = try run.events()
        if let dropped = events.first(where: { $0.type == .dropped }) {
            throw Self.failure(
                "COMMAND makes more calls than can be counted (\(dropped.reason ?? ""))\n  Sweep a smaller part of it.")
        }
        try check(end, run)
        let limit = limit ?? max(Self.leastLimit, Self.limitFactor * (System.uptime() - began))
        let moments = events.compactMap(SweepMoment.init)
        if moments.isEmpty { throw Self.failure("COMMAND calls nothing in the container") }
        return (moments, limit)
    }

    /// Fails if COMMAND or the check has failed without a fault.
    private func check(_ end: ProcessEnd, _ run: SweepProcess) throws(CommandFailure) {
        guard end == .exited(0) else {
            let isOurs = ["passed", "lost", "notStarted", nil].contains(try run.summary()?.verdict)
            let what = isOurs ? "purgefs run" : "COMMAND or the check"
            let words = run.isLate ? "did not end in time" : "failed"
            throw Self.failure("\(what) \(words) without any fault: \(try run.lastLines(3) ?? "no output")")
        }
    }

    /// Runs COMMAND once more, recorded. Returns a trial for each state that a loss of power can leave. The faults are tried in
    /// runs that are not recorded, because COMMAND makes other calls in a recorded one.
    func powerTrials(most: Int?, limit: Int64) throws(CommandFailure) -> [SweepTrial] {
        // Everything until the unmount is recorded, so the check must not change anything here.
        var run = try SweepProcess(
            common, name: "recorded", options: ["--record", record, "--data"], check: "true", limit: limit)
        let end = try wait(for: &run)
        defer { run.removeFiles() }
        try check(end, run)
        let status = try run.summary()?.commandStatus ?? 0
        return SweepPower.trials(of: try CallsFile.read(record), status: status, most: most)
    }

    private func start(_ trial: SweepTrial, name: String, limit: Int64) throws(CommandFailure) -> SweepProcess {
        guard let loss = trial.loss, trial.powerRule == nil else {
            return try SweepProcess(common, name: name, faults: trial.rules, limit: limit)
        }
        let moment = trial.moment.isAfterLast ? nil : trial.moment.text
        let words = PowerRun.replay(
            loss, before: moment, status: trial.commandStatus, record, failure: "\(common.directory)/\(name).failure")
        return try SweepProcess(
            common, name: name, command: words.map { Array($0.utf8CString) }, limit: limit)
    }

    private func wait(for run: inout SweepProcess) throws(CommandFailure) -> ProcessEnd {
        var signal: Int32?
        while true {
            if let end = try ended(&run) {
                if let signal { throw Self.interrupted(by: signal) }
                return end
            }
            run.enforceLimits()
            if let new = try nextSignal() {
                signal = new
                run.end()
            }
        }
    }

    private struct State {
        var results: [SweepResult?]
        var running: [Int: SweepProcess] = [:]
        var next = 0
        var done = 0
        var failed = 0
    }

    /// Carries out the trials. Returns their results in the same order. After a failure, no run is left.
    func carryOut(
        _ trials: [SweepTrial], limit: Int64, _ progress: SweepProgress?
    ) throws(CommandFailure) -> [SweepResult] {
        var state = State(results: [SweepResult?](repeating: nil, count: trials.count))
        do throws(CommandFailure) {
            while state.done < trials.count {
                while state.next < trials.count, state.running.count < jobs {
                    state.running[state.next] = try start(trials[state.next], name: "\(state.next)", limit: limit)
                    state.next += 1
                }
                if try collect(trials, &state) { progress?.show(state.done, failed: state.failed, of: trials.count) }
                if state.running.count == jobs || state.next == trials.count, let signal = try nextSignal() {
                    throw Self.interrupted(by: signal)
                }
            }
        } catch {
            try endAll(&state)
            throw error
        }
        return state.results.compactMap { $0 }
    }

    /// Notes the results of the runs that have ended. Returns whether there are any.
    private func collect(_ trials: [SweepTrial], _ state: inout State) throws(CommandFailure) -> Bool {
        let before = state.done
        for index in state.running.keys.sorted() {
            guard var run = state.running.removeValue(forKey: index) else { continue }
            guard let end = try ended(&run) else {
                run.enforceLimits()
                state.running[index] = run
                continue
            }
            let result = try result(of: trials[index], run, end)
            run.removeFiles()
            if case .failed = result.outcome { state.failed += 1 }
            state.results[index] = result
            state.done += 1
        }
        return state.done > before
    }

    private func endAll(_ state: inout State) throws(CommandFailure) {
        for index in state.running.keys { state.running[index]?.end() }
        while !state.running.isEmpty {
            for index in Array(state.running.keys) {
                guard var run = state.running[index] else { continue }
                run.enforceLimits()
                state.running[index] = try ended(&run) == nil ? run : nil
            }
            _ = try nextSignal()
        }
    }

    private func result(
        of trial: SweepTrial, _ run: SweepProcess, _ end: ProcessEnd
    ) throws(CommandFailure) -> SweepResult {
        let events = try run.events()
        let fault = events.lazy.compactMap(SweepMoment.init).first
        let (summary, differences) = (try run.summary(), try run.replayFailure())
        let outcome: SweepOutcome =
            switch summary?.verdict {
            case _ where run.isLate: .failed("did not end in time")
            // What survives may need more room than the device has, because a removed file is there again.
            case _ where differences.contains(", ENOSPC now\n"): .notReached
            case _ where !differences.isEmpty: .broken("the record cannot be replayed")
            case "checkFailed" where fault == nil && trial.loss == nil:
                .broken("the check failed, although the fault did not occur")
            case "checkFailed": .failed("the check \(RunReport.words(of: end))" + Self.effects(events))
            case "passed" where end == .exited(0): fault == nil && trial.loss == nil ? .notReached : .held
            default: .broken("purgefs run \(RunReport.words(of: end))")
            }
        return SweepResult(
            trial: trial, outcome: outcome, tookAnotherCourse: fault.map { $0.path != trial.moment.path } ?? false,
            lastLine: outcome == .held ? nil : try run.lastLines())
    }

    /// The first purges and refusals since the fault, each with its reason.
    private static func effects(_ events: [Event]) -> String {
        let types: Set<EventType> = [.purge, .refused, .protectionDenied, .terminated]
        let effects = events.drop { $0.type != .fault }.filter { types.contains($0.type) }
        let texts = effects.prefix(2).map { event in
            (["; " + event.type.rawValue] + EventText(event: event).what).joined(separator: " ")
        }
        return texts.joined() + (effects.count > 2 ? "; and \(effects.count - 2) more" : "")
    }

    private func ended(_ run: inout SweepProcess) throws(CommandFailure) -> ProcessEnd? {
        do throws(Errno) { return try run.ended() } catch {
            throw CommandFailure("cannot wait for a run", path: "process \(run.pid)", error)
        }
    }

    /// Waits until a run may have ended, but at most 100 ms. Returns a signal that ends the sweep.
    private func nextSignal() throws(CommandFailure) -> Int32? {
        do throws(Errno) {
            let signal = try System.nextSignal(of: Self.blocked, milliseconds: 100)
            return signal.flatMap { Self.ending.contains(SignalSet($0.number)) ? $0.number : nil }
        } catch { throw CommandFailure("cannot wait for a run", path: "signals", error) }
    }

    private static func failure(_ text: String) -> CommandFailure {
        CommandFailure(status: ExitStatus.runFailed, message: "sweep: \(text)")
    }

    private static func interrupted(by signal: Int32) -> CommandFailure {
        CommandFailure(status: ExitStatus.signal + signal, message: "sweep: interrupted")
    }
}
