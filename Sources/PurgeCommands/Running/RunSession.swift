import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// One `purgefs run`, from the mount to the removal of everything it has made.
///
/// From here on every signal that could end this process is blocked and fetched, so that it never
/// ends before it has cleaned up.
struct RunSession {
    private static let passedOn = SignalSet(SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2)
    private static let blocked = passedOn.union(SignalSet(SIGCHLD, SIGPIPE, SIGALRM, SIGVTALRM, SIGPROF))

    private let invocation: Invocation
    private let console: Console
    private let prepared: RunPreparation
    /// What COMMAND gets back.
    private let mask: SignalSet

    init(_ invocation: Invocation) throws(CommandFailure) {
        self.invocation = invocation
        console = invocation.console
        do throws(Errno) {
            mask = try System.block(Self.blocked)
        } catch { throw CommandFailure("cannot run", path: invocation.arguments.operands[0], error) }
        prepared = try RunPreparation.make(store: invocation.arguments.text(.store))
    }

    func run(record: RunRecord?) throws(CommandFailure) -> Int32 {
        let daemon: DaemonProcess
        do throws(CommandFailure) {
            daemon = try mount()
        } catch {
            try prepared.withdraw()
            throw error
        }
        let result = Result { () throws(CommandFailure) in try runCommand(daemon) }
        // Whatever has happened, everything below happens.
        let after = daemon.hasEnded() ? nil : status()
        var failures = RunEnding(mountpoint: prepared.mountpoint, console: console).takeAway(daemon)
        do throws(CommandFailure) { try summarize(result, after, record) } catch { failures.append(error) }
        do throws(CommandFailure) { try prepared.area.remove() } catch { failures.append(error) }
        for failure in failures { console.warn(failure.message) }
        let status = try result.get().status
        return failures.isEmpty ? status : ExitStatus.runFailed
    }

    private func mount() throws(CommandFailure) -> DaemonProcess {
        let options =
            [OptionSpec.diesWithParent.text, OptionSpec.removeStore.text, prepared.area.root]
            + invocation.arguments.mountingWords()
        let daemon = try DaemonProcess.start(
            programName: invocation.programName, options: options, store: prepared.store,
            mountpoint: prepared.mountpoint)
        switch try daemon.waitUntilReady(interruptedBy: Self.passedOn) {
        case .ready: return daemon
        case .interrupted(let signal):
            daemon.requestEnd()
            _ = daemon.waitForEnd(milliseconds: 10_000)
            throw CommandFailure(status: 128 + signal, message: "run: interrupted before COMMAND began")
        case .ended(let end):
            // It has said why, if it could.
            let message = end.signal.map { "the daemon was killed by signal \($0)" } ?? ""
            throw CommandFailure(status: ExitStatus.runFailed, message: message)
        }
    }

    private struct Outcome {
        var status: Int32
        var before: StatusReport
    }

    private func runCommand(_ daemon: DaemonProcess) throws(CommandFailure) -> Outcome {
        let before = try MountedControl(place: prepared.mountpoint).status()
        let command = try RunningCommand.start(
            invocation.rawOperands, environment: RunEnvironment.make(mountpoint: prepared.mountpoint), mask: mask)
        let end = try command.wait(signals: Self.blocked, passedOn: Self.passedOn) {
            guard daemon.hasEnded() else { return false }
            console.warn(
                "run: the container is gone: \(VisibleText.of(prepared.mountpoint)): its daemon \(daemon.endInWords)\n"
                    + "  COMMAND is told to end. With --log FILE the daemon leaves its messages."
                    + (Store.lastWords(in: prepared.store).map { "\n" + VisibleText.of($0) } ?? ""))
            return true
        }
        return Outcome(status: daemon.hasEnded() ? ExitStatus.runFailed : end.exitStatus, before: before)
    }

    private func status() -> StatusReport? {
        do throws(CommandFailure) {
            return try MountedControl(place: prepared.mountpoint).status()
        } catch { return nil }  // the daemon has ended this moment; the summary does without
    }

    private func summarize(
        _ result: Result<Outcome, CommandFailure>, _ after: StatusReport?, _ record: RunRecord?
    ) throws(CommandFailure) {
        let isWanted = !invocation.arguments.has(.quiet)
        guard case .success(let outcome) = result, isWanted || record != nil else { return }
        let events = try History(store: prepared.store).events(after: prepared.lastSequence)
        if isWanted {
            console.warn(RunSummary(before: outcome.before, after: after, events: events).text)
        }
        try record?.write(events)
    }
}
