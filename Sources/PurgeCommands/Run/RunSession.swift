import Glibc
import PurgeBackup
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

/// One `purgefs run`, from the mount to the removal of everything that it created.
///
/// The signals in `blocked` are fetched meanwhile instead of being delivered, so that this process does not end before it has
/// cleaned up.
struct RunSession {
    static let passedOn = SignalSet(SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2)
    /// The signals that end the run before COMMAND has begun. COMMAND also gets signals that `purgefs run` ignores, since it
    /// may have a use for them.
    private static let interrupting = passedOn.withoutIgnored
    static let blocked = passedOn.union(SignalSet(SIGCHLD, SIGPIPE, SIGXFSZ, SIGALRM, SIGVTALRM, SIGPROF))

    private let invocation: Invocation
    private let console: Console
    private let prepared: RunPreparation
    private let plan: RunningPlan
    /// The signal mask for COMMAND.
    private let mask: SignalSet

    /// Blocks the signals. Returns the previous mask.
    static func blockSignals() throws(Errno) -> SignalSet { try System.block(blocked) }

    /// Prepares the run. `mask` is the result of `blockSignals`.
    init(
        _ invocation: Invocation, _ plan: RunPlan, _ origin: CopyOrigin?, store: NamedStore?, mask: SignalSet
    ) throws(CommandFailure) {
        self.invocation = invocation
        self.mask = mask
        console = invocation.console
        prepared = try RunPreparation.make(
            store: store, copyOf: origin,
            protection: invocation.arguments.text(.protection).flatMap { FileProtection(text: $0) },
            allowsOther: invocation.arguments.allowsOther)
        self.plan = RunningPlan(plan, mountpoint: prepared.mountpoint)
    }

    func run(record: RunRecord, report: RunReport?, demands: RunDemands) throws(CommandFailure) -> Int32 {
        let daemon: DaemonProcess
        do throws(CommandFailure) {
            daemon = try mount(isStatusWanted: isStatusWanted(demands))
        } catch {
            try prepared.withdraw()
            throw error
        }
        var result = Result { () throws(CommandFailure) in
            try record.begin(
                daemon.line, after: prepared.lastSequence, store: prepared.store, mountpoint: prepared.mountpoint)
            return try runCommand(daemon)
        }
        // Everything below is done even after a failure.
        record.startEnding()
        plan.stop()
        let ending = RunEnding(area: prepared.area, mountpoint: prepared.mountpoint, console: console)
        let (isMounted, covers) = ending.takeCoversAway()
        let wasThere = isMounted && !daemon.hasEnded()
        var failures =
            covers + ending.takeAway(daemon, isMounted: isMounted, record, isStoreDiscarded: isStoreDiscarded)
        if failures.isEmpty, !wasThere || daemon.wasKilled { noteLoss(of: daemon, in: &result) }
        failures += endPlan()
        let (events, told) = record.end(hasDaemonEnded: !isStoreDiscarded)
        failures += record.failures(isStoreKept: isStoreKept)
        do throws(CommandFailure) { try write(report, result, daemon) } catch { failures.append(error) }
        do throws(CommandFailure) { try remove(after: result) } catch { failures.append(error) }
        failures += ending.awaitEnd(of: daemon, record)
        if failures.isEmpty, daemon.wasKilled { noteLoss(of: daemon, in: &result) }
        let after = wasThere ? told : nil
        let summary = summary(of: result, after, events)
        if case .success = result { summarize(after, summary) }
        do throws(CommandFailure) { try demands.write(summary) } catch { failures.append(error) }
        annotate(summary, result, failures)
        for failure in failures { console.warn(failure.message) }
        let status = try result.get().status
        guard failures.isEmpty else { return ExitStatus.runFailed }
        return demands.status(after: Self.last(status), events, console)
    }

    private func isStatusWanted(_ demands: RunDemands) -> Bool {
        !invocation.arguments.has(.quiet) || demands.wantSummary || RunAnnotations(invocation.arguments) != nil
    }

    private func annotate(
        _ summary: RunSummary, _ result: Result<Outcome, CommandFailure>, _ failures: [CommandFailure]
    ) {
        var failures = failures
        if case .failure(let failure) = result { failures.append(failure) }
        RunAnnotations(invocation.arguments)?.write(
            summary, failures: failures, program: invocation.arguments.operands[0], store: prepared.store, console)
    }

    /// Whether nothing uses the store after COMMAND: it is temporary, and there is no report.
    private var isStoreDiscarded: Bool {
        !invocation.arguments.has(.store) && !invocation.arguments.has(.reportFile)
    }

    /// Whether the store stays. A copy that COMMAND has not seen is removed with the run.
    private var isStoreKept: Bool { invocation.arguments.has(.store) && (plan.hasBegun || !prepared.isCopied) }

    /// Records and reports the loss of the container, unless that has already been done while COMMAND was running. A killed
    /// daemon stops answering some time before it has ended, and COMMAND may have ended in between.
    private func noteLoss(of daemon: DaemonProcess, in result: inout Result<Outcome, CommandFailure>) {
        guard case .success(var outcome) = result, !outcome.hasLostContainer else { return }
        outcome.hasLostContainer = true
        result = .success(outcome)
        console.warn(messageOfLoss(daemon, "To keep the daemon's messages, use --log FILE."))
    }

    private func messageOfLoss(_ daemon: DaemonProcess, _ advice: String) -> String {
        "run: the container is gone: \(VisibleText.of(prepared.mountpoint)): its daemon \(daemon.endInWords)\n  \(advice)"
            + (Store.lastWords(in: prepared.store).map { "\n" + VisibleText.of($0) } ?? "")
    }

    /// Ends the plan. Must be called after the unmount, so that no step still waits for the daemon.
    private func endPlan() -> [CommandFailure] {
        let (failures, unreached) = plan.end()
        if !unreached.isEmpty {
            console.warn(
                "run: COMMAND ended before this was reached: "
                    + unreached.map { "--at \(VisibleText.of($0))" }.joined(separator: ", "))
        }
        return failures
    }

    private func outcome(of result: Result<Outcome, CommandFailure>) -> Outcome? {
        if case .success(let outcome) = result { outcome } else { nil }
    }

    private func write(
        _ report: RunReport?, _ result: Result<Outcome, CommandFailure>, _ daemon: DaemonProcess
    ) throws(CommandFailure) {
        let ending: String
        var hasFailed = true
        switch result {
        case .success(let outcome) where outcome.hasLostContainer:
            ending = RunReport.words(of: outcome.end) + "; the daemon of its container \(daemon.endInWords)"
        case .success(let outcome):
            ending =
                RunReport.words(of: outcome.end)
                + (outcome.checkEnd.map { ", and the check \(RunReport.words(of: $0))" } ?? "")
            hasFailed = outcome.status != ExitStatus.done
        case .failure(let failure): ending = "did not run: \(failure.message)"
        }
        try report?.write(
            store: prepared.store,
            .init(
                program: invocation.arguments.operands.first ?? "", ending: ending, hasFailed: hasFailed,
                isStoreKept: isStoreKept))
    }

    /// Removes everything that was created for the run. If a signal came before COMMAND, also removes a new store that the user
    /// named.
    private func remove(after result: Result<Outcome, CommandFailure>) throws(CommandFailure) {
        if case .failure(let failure) = result, failure.status > ExitStatus.signal { return try prepared.withdraw() }
        try prepared.end(hasRun: plan.hasBegun)
    }

    /// Returns COMMAND's status or, if that is 0 and a signal arrived during the cleanup, the status for the signal.
    private static func last(_ status: Int32) -> Int32 {
        guard status == ExitStatus.done, let signal = System.endSignal() else { return status }
        return ExitStatus.signal + signal
    }

    private func mount(isStatusWanted: Bool) throws(CommandFailure) -> DaemonProcess {
        if invocation.arguments.allowsOther { try prepared.area.admitOthers() }
        var hidden: [OptionSpec] = [.sendsEvents, .diesWithParent, .runsApp]
        if controlsCommand { hidden.append(.controlsApp) }
        if isStatusWanted { hidden.append(.sendsStatus) }
        if isStoreDiscarded { hidden.append(.discardsStore) }
        let options =
            (hidden + [.removeStore]).map(\.text) + [prepared.area.root]
            + invocation.arguments.mountingWords()
            + (invocation.arguments.text(.traceFile).map { [OptionSpec.traceOutput.text, $0] } ?? [])
            + (invocation.arguments.text(.recordFile).map { [OptionSpec.recordOutput.text, $0] } ?? [])
            + (invocation.arguments.has(.data) ? [OptionSpec.recordsData.text] : [])
        let daemon = try DaemonProcess.start(
            programName: invocation.programName, options: options, store: prepared.store,
            known: prepared.directory, mountpoint: prepared.mountpoint)
        prepared.cleaning.begin()
        let ending = RunEnding(area: prepared.area, mountpoint: prepared.mountpoint, console: console)
        if let signal = try daemon.waitForWord(orOneOf: Self.interrupting) {
            for failure in ending.abandon(daemon) { console.warn(failure.message) }
            throw Self.interrupted(by: signal)
        }
        if let end = try daemon.waitUntilReady() {
            for failure in ending.abandon(daemon) { console.warn(failure.message) }
            throw CommandFailure(
                status: ExitStatus.runFailed, message: DaemonProcess.signalInWords(of: end).map { "run: \($0)" } ?? "")
        }
        return daemon
    }

    static func interrupted(by signal: Int32) -> CommandFailure {
        CommandFailure(status: ExitStatus.signal + signal, message: "run: interrupted before COMMAND began")
    }

    private struct Outcome {
        var end: ProcessEnd
        /// The end of the command of `--check`, if it ran.
        var checkEnd: ProcessEnd?
        var hasLostContainer: Bool
        /// Whether a signal to `purgefs run` asked COMMAND to end.
        var wasToEnd = false

        var status: Int32 { hasLostContainer ? ExitStatus.runFailed : (checkEnd ?? end).exitStatus }
    }

    private func runCommand(_ daemon: DaemonProcess) throws(CommandFailure) -> Outcome {
        try prepareDevice()
        if let signal = System.endSignal() { throw Self.interrupted(by: signal) }
        try plan.start()
        let command = try start(invocation.rawOperands, daemon)
        if controlsCommand, plan.isForTheStart || invocation.arguments.has(.state) { nameProcess(command.pid) }
        plan.noteBeginning()
        var outcome = try wait(for: command, daemon)
        if let check = checkCommand(after: outcome) {
            plan.stop()
            guard makeDeviceWell(daemon) else {
                (outcome.checkEnd, outcome.hasLostContainer) = (.exited(ExitStatus.runFailed), daemon.hasEnded())
                return outcome
            }
            let checking = try start(check, daemon, after: outcome.end)
            if controlsCommand { nameProcess(checking.pid) }
            let checked = try wait(for: checking, daemon)
            (outcome.checkEnd, outcome.hasLostContainer) = (checked.end, checked.hasLostContainer)
        }
        return outcome
    }

    /// Returns the words of the command of `--check`. nil if there is none, if the container is gone, or if the user has ended
    /// COMMAND.
    private func checkCommand(after outcome: Outcome) -> [RawText]? {
        guard let check = invocation.arguments.text(.check), !outcome.hasLostContainer, !outcome.wasToEnd else {
            return nil
        }
        return ["sh", "-c", check].map { Array($0.utf8CString) }
    }

    /// Ends all faults, unlocks the device and launches the app. Warns and returns false if the daemon refuses that or does not
    /// answer.
    private func makeDeviceWell(_ daemon: DaemonProcess) -> Bool {
        let check = RunCheck(control: MountedControl(place: prepared.mountpoint))
        let result = answer { () throws(CommandFailure) in try check.makeDeviceWell() }
        switch result {
        case .success: return true
        case .failure(let failure): console.warn("run: \(failure.message)")
        case nil: console.warn("run: the daemon does not answer, so the check is not run")
        }
        return false
    }

    private func start(
        _ words: [RawText], _ daemon: DaemonProcess, after end: ProcessEnd? = nil
    ) throws(CommandFailure) -> RunningCommand {
        try RunningCommand.start(
            words, environment: RunEnvironment.make(mountpoint: prepared.mountpoint, after: end?.exitStatus),
            mask: mask,
            directory: invocation.arguments.has(.chdir) ? prepared.mountpoint : nil, beside: daemon.pid)
    }

    private func wait(for command: RunningCommand, _ daemon: DaemonProcess) throws(CommandFailure) -> Outcome {
        var isLost = false
        let end = try command.wait(signals: Self.blocked, passedOn: Self.passedOn) {
            guard daemon.hasEnded() else { return false }
            isLost = true
            console.warn(
                messageOfLoss(daemon, "COMMAND gets SIGTERM. To keep the daemon's messages, use --log FILE."))
            return true
        }
        return Outcome(end: end.end, hasLostContainer: isLost, wasToEnd: end.wasToEnd)
    }

    private var controlsCommand: Bool { invocation.arguments.text(.signals) != "off" }

    /// Makes COMMAND the process of the app, so that it is stopped if the app is suspended already. A failure is not reported:
    /// either COMMAND or the daemon has ended, or the mount is read-only and has no app.
    private func nameProcess(_ pid: pid_t) {
        let control = MountedControl(place: prepared.mountpoint)
        _ = answer { () throws(CommandFailure) in
            do throws(Errno) { try control.write("\(pid)", to: .appProcess) } catch {}
        }
    }

    /// Carries out the steps of the plan that come before COMMAND.
    private func prepareDevice() throws(CommandFailure) {
        guard plan.isForTheStart else { return }
        let control = MountedControl(place: prepared.mountpoint)
        let stat = { @Sendable () throws(CommandFailure) in try control.stat("refused.writes") }
        let prepare = { @Sendable [plan] () throws(CommandFailure) in try plan.prepare() }
        let result = answer(prepare, within: 250) { System.endSignal() == nil && answer(stat) != nil }
        if let signal = System.endSignal() { throw Self.interrupted(by: signal) }
        guard let result else {
            throw CommandFailure(
                status: ExitStatus.runFailed,
                message: "run: the daemon of \(VisibleText.of(prepared.mountpoint)) does not answer (was it stopped?)")
        }
        try result.get()
    }

    /// Asks the daemon; returns nil if there is no answer in time, because a call into the mount of a stopped daemon never
    /// returns. Each time the limit has passed, `isWorking` says whether to keep waiting.
    private func answer<Value: Sendable>(
        _ question: @escaping @Sendable () throws(CommandFailure) -> Value, within milliseconds: Int64 = 5000,
        isWorking: () -> Bool = { false }
    ) -> Result<Value, CommandFailure>? {
        do throws(Errno) {
            return try TimeLimit.run(milliseconds: milliseconds, while: isWorking) { Result(catching: question) }
        } catch { return Result(catching: question) }
    }

    /// Returns the summary. Its `refusedBefore` is nil if COMMAND was not reached.
    private func summary(
        of result: Result<Outcome, CommandFailure>, _ after: DaemonReport?, _ events: RunTally
    ) -> RunSummary {
        let outcome = outcome(of: result)
        return RunSummary(
            verdict: Self.verdict(of: outcome, events), status: outcome?.status,
            commandStatus: outcome.flatMap { $0.checkEnd == nil ? nil : $0.end.exitStatus },
            refusedBefore: outcome.map { _ in prepared.refusedBefore },
            after: after?.status, events: events)
    }

    private static func verdict(of outcome: Outcome?, _ events: RunTally) -> RunVerdict {
        guard let outcome else { return .notStarted }
        if outcome.hasLostContainer { return .lost }
        if outcome.status != ExitStatus.done {
            return outcome.checkEnd.map { .checkFailed($0, after: outcome.end) } ?? .failed(outcome.end)
        }
        if events.demands.contains(where: { $0.count > 0 }) { return .failOn(hasCheck: outcome.checkEnd != nil) }
        return outcome.checkEnd.map { _ in .checkPassed(after: outcome.end) } ?? .passed
    }

    private func summarize(_ after: DaemonReport?, _ summary: RunSummary) {
        if !invocation.arguments.has(.quiet) { console.warn(summary.text) }
        let refusals = after?.hostRefusals ?? summary.events.hostRefusals
        guard refusals > 0 else { return }
        console.warn(
            "warning: \(prepared.store): the disk under the store is full: \(refusals) "
                + (refusals == 1
                    ? "call that the device had room for failed" : "calls that the device had room for failed")
                + " with EIO\n  Use a smaller --total, or put the store on another disk: --store DIR, or TMPDIR.")
    }
}
