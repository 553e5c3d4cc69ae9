import Glibc
import PurgeCommandLine
import PurgeModel
import PurgeSystem

/// The runs of a sweep: one that counts the calls of COMMAND, and then one for each trial, several at a time.
struct SweepRun {
    private static let ending = SignalSet(SIGINT, SIGTERM, SIGHUP, SIGQUIT)
    /// The signals that `make` blocks, and `wait` fetches.
    static let blocked = ending.union(SignalSet(SIGCHLD))

    let common: SweepProcess.Common
    let jobs: Int
    /// The longest time of a run in nanoseconds; nil for a multiple of the counting run's time.
    let limit: Int64?
    let progress: (_ done: Int, _ failed: Int, _ all: Int) -> Void

    /// Without a time limit: this many times the duration of the counting run, and at least `leastLimit`.
    private static let limitFactor: Int64 = 20
    private static let leastLimit: Int64 = 30_000_000_000

    /// Runs COMMAND without a fault. Returns its calls, and the time limit for the trials.
    func count() throws(CommandFailure) -> (moments: [SweepMoment], limit: Int64) {
        let began = System.uptime()
        // A delay of nothing leaves an event of each call.
        var run = try SweepProcess(
            common, name: "count", faults: MomentKind.allCases.map { "\($0.rawValue)=0ms" }, limit: limit)
        let end = try wait(for: &run)
        defer { run.removeFiles() }
        guard end == .exited(0) else {
            let words = run.isLate ? "did not end in time" : "failed"
            throw CommandFailure(
                status: ExitStatus.runFailed,
                message: "sweep: COMMAND or the check \(words) without any fault: "
                    + (try run.lastLine() ?? "no output"))
        }
        let events = try run.events()
        if let dropped = events.first(where: { $0.type == .dropped }) {
            throw CommandFailure(
                status: ExitStatus.runFailed,
                message: "sweep: COMMAND makes more calls than can be counted (\(dropped.reason ?? ""))\n"
                    + "  Sweep a smaller part of it.")
        }
        return (
            events.compactMap(SweepMoment.init),
            limit ?? max(Self.leastLimit, Self.limitFactor * (System.uptime() - began))
        )
    }

    private func wait(for run: inout SweepProcess) throws(CommandFailure) -> ProcessEnd {
        while true {
            run.enforceLimit()
            if let end = try ended(run) { return end }
            if let signal = try nextSignal() {
                run.end()
                while try ended(run) == nil {
                    run.enforceLimit()
                    _ = try nextSignal()
                }
                throw Self.interrupted(by: signal)
            }
        }
    }

    /// Carries out the trials. Returns their results in the same order.
    func carryOut(_ trials: [SweepTrial], limit: Int64) throws(CommandFailure) -> [SweepResult] {
        var results = [SweepResult?](repeating: nil, count: trials.count)
        var running: [Int: SweepProcess] = [:]
        var (next, done, failed) = (0, 0, 0)
        var signal: Int32?
        while done < trials.count {
            while signal == nil, next < trials.count, running.count < jobs {
                running[next] = try SweepProcess(common, name: "\(next)", faults: [trials[next].rule], limit: limit)
                next += 1
            }
            if running.isEmpty { break }
            for index in running.keys.sorted() {
                running[index]?.enforceLimit()
                guard let run = running[index], let end = try ended(run) else { continue }
                running[index] = nil
                let result = try result(of: trials[index], run, end)
                run.removeFiles()
                if case .failed = result.outcome { failed += 1 }
                (results[index], done) = (result, done + 1)
                progress(done, failed, trials.count)
            }
            if running.count == jobs || next == trials.count, let new = try nextSignal(), signal == nil {
                signal = new
                for index in running.keys { running[index]?.end() }
            }
        }
        if let signal { throw Self.interrupted(by: signal) }
        return results.compactMap(\.self)
    }

    private func result(
        of trial: SweepTrial, _ run: SweepProcess, _ end: ProcessEnd
    ) throws(CommandFailure) -> SweepResult {
        let fault = try run.events().lazy.compactMap(SweepMoment.init).first
        let verdict = try run.verdict()
        let outcome: SweepOutcome =
            if run.isLate {
                .failed("did not end in time")
            } else if verdict == nil || verdict == "lost" || verdict == "notStarted" {
                .broken("purgefs run \(RunReport.words(of: end))")
            } else if end != .exited(0) {
                .failed("the check \(RunReport.words(of: end))")
            } else if fault == nil {
                .notReached
            } else {
                .held
            }
        return SweepResult(
            trial: trial, outcome: outcome, tookAnotherCourse: fault.map { $0.path != trial.moment.path } ?? false,
            lastLine: outcome == .held ? nil : try run.lastLine())
    }

    private func ended(_ run: SweepProcess) throws(CommandFailure) -> ProcessEnd? {
        do throws(Errno) { return try System.wait(for: run.pid, blocking: false) } catch {
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

    private static func interrupted(by signal: Int32) -> CommandFailure {
        CommandFailure(status: ExitStatus.signal + signal, message: "sweep: interrupted")
    }
}
