import Glibc
import PurgeCommandLine
import PurgeSystem

/// COMMAND of `purgefs run`.
struct RunningCommand {
    private static let graceMilliseconds: Int64 = 10_000

    let pid: pid_t
    /// The daemon, another child of this process.
    let daemon: pid_t

    static func start(
        _ words: [RawText], environment: [RawText], mask: SignalSet, directory: String?, beside daemon: pid_t
    ) throws(CommandFailure) -> RunningCommand {
        do throws(Errno) {
            return RunningCommand(
                pid: try System.spawn(words, environment: environment, mask: mask, directory: directory), daemon: daemon
            )
        } catch {
            throw refusal(error, words.first.map(Places.text) ?? "")
        }
    }

    private static func refusal(_ error: Errno, _ name: String) -> CommandFailure {
        // A directory in PATH that this user may not search causes EACCES too, even if no directory has the program.
        let isNowhere = error == .accessDenied && !name.contains("/") && !Places.isInPath(name)
        let isMissing = isNowhere || error == .noEntry || error == .notDirectory
        let advice: String =
            if error == .execFormatError {
                "It is neither a program for this machine nor a script that begins with #!."
            } else if error == .argListTooLong {
                "Pass fewer arguments: purgefs adds variables to the environment, which count too."
            } else if isMissing {
                isShell(name) ? "To run a command of the shell: sh -c '...'" : "Check the name, or PATH."
            } else if Places.isDirectory(name) {
                "It is a directory: name a program."
            } else {
                "Check its mode: chmod +x \(ShellWord.of(name))"
            }
        let failure = CommandFailure("cannot run", path: name, isNowhere ? .noEntry : error, advice: advice)
        return CommandFailure(
            status: isMissing ? ExitStatus.notFound : ExitStatus.notExecutable, message: failure.message)
    }

    private static func isShell(_ name: String) -> Bool {
        name.contains(" ") || name.contains("=") || ["cd", "export", "source", "ulimit", "exit"].contains(name)
    }

    /// Waits for COMMAND's end, and passes on each signal of `passedOn` that COMMAND has not received itself. Calls
    /// `hasLostContainer` after each of `signals`, which include SIGCHLD, until it returns true. COMMAND then gets SIGTERM,
    /// and ten seconds later SIGKILL. `wasToEnd` is whether a signal that was passed on asked COMMAND to end.
    func wait(
        signals: SignalSet, passedOn: SignalSet, hasLostContainer: () -> Bool
    ) throws(CommandFailure) -> (end: ProcessEnd, wasToEnd: Bool) {
        var killTime: Int64?
        // For a while after a signal that asks COMMAND to end, a suspension must not keep it from ending.
        var endingUntil: Int64 = 0
        do throws(Errno) {
            // Signals that arrived before COMMAND existed have reached only this process.
            try passOnAll(of: passedOn)
            while true {
                if let end = try System.wait(for: pid, blocking: false) {
                    // Signals that have arrived until now were meant for COMMAND.
                    while try System.nextSignal(of: passedOn, milliseconds: 0) != nil {}
                    return (end, endingUntil > 0)
                }
                if killTime == nil, hasLostContainer() {
                    killTime = System.uptime() + Self.graceMilliseconds * 1_000_000
                    continueDescendants()
                    send(SIGTERM)
                }
                if let time = killTime, System.uptime() > time { send(SIGKILL) }
                try reapOrphans()
                let isEnding = System.uptime() < endingUntil
                if isEnding { continueDescendants() }
                let milliseconds: Int32 = killTime != nil || isEnding ? 200 : -1
                guard let signal = try System.nextSignal(of: signals, milliseconds: milliseconds),
                    passedOn.contains(SignalSet(signal.number))
                else { continue }
                if passOn(signal) { endingUntil = System.uptime() + Self.graceMilliseconds * 1_000_000 }
            }
        } catch { throw CommandFailure("cannot wait for COMMAND", path: "process \(pid)", error) }
    }

    /// Passes a signal on unless COMMAND has received it already. Returns whether the signal asks COMMAND to end.
    private func passOn(_ signal: ReceivedSignal) -> Bool {
        // A signal typed at a terminal also goes to COMMAND, which is in the same process group. A hangup goes only to the
        // session leader, which may be this process.
        if !signal.isFromKernel || signal.number == SIGHUP { send(signal.number) }
        return continueIfEnding(signal.number)
    }

    private func passOnAll(of signals: SignalSet) throws(Errno) {
        while let signal = try System.nextSignal(of: signals, milliseconds: 0) {
            send(signal.number)
            _ = continueIfEnding(signal.number)
        }
    }

    /// Collects ended orphans. As the first process of a PID namespace (in a container), this process becomes the parent of
    /// every process that has lost its own. COMMAND and the daemon are left to the code that waits for them.
    private func reapOrphans() throws(Errno) {
        while let child = try System.endedChild(), child != pid, child != daemon {
            _ = try System.wait(for: child, blocking: true)
        }
    }

    /// Continues COMMAND and its descendants, which the daemon may have stopped.
    private func continueDescendants() {
        guard let command = ProcessStatus(of: pid) else { return }
        for process in ProcessStatus.tree(of: command) {
            do throws(Errno) { try System.signal(process.pid, SIGCONT) } catch {}  // it has ended, or is another user's
        }
    }

    /// Continues the processes after a signal that asks COMMAND to end, because a stopped process acts on signals other than
    /// SIGKILL only once it is continued. Returns whether the signal is such a one.
    private func continueIfEnding(_ signal: Int32) -> Bool {
        guard [SIGINT, SIGTERM, SIGHUP, SIGQUIT].contains(signal) else { return false }
        continueDescendants()
        return true
    }

    private func send(_ signal: Int32) {
        do throws(Errno) { try System.signal(pid, signal) } catch {}  // it has ended meanwhile
    }
}
