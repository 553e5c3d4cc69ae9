import Glibc
import PurgeSystem

/// COMMAND of `purgefs run`.
struct RunningCommand {
    private static let graceMilliseconds: Int64 = 10_000

    let pid: pid_t

    static func start(
        _ words: [RawText], environment: [RawText], mask: SignalSet
    ) throws(CommandFailure) -> RunningCommand {
        do throws(Errno) {
            return RunningCommand(pid: try System.spawn(words, environment: environment, mask: mask))
        } catch {
            let name = words.first.map(Places.text) ?? ""
            let isMissing = error == .noEntry || error == .notDirectory
            let advice =
                error == .noExecutable
                ? "It is neither a program for this machine nor a script that begins with #!."
                : isMissing ? "Check the name, or PATH." : "Check its mode: chmod +x \(name)"
            let failure = CommandFailure("cannot run", path: name, error, advice: advice)
            throw CommandFailure(
                status: isMissing ? ExitStatus.notFound : ExitStatus.notExecutable, message: failure.message)
        }
    }

    /// Waits for its end, and meanwhile hands on the signals that this process gets. `hasLostContainer`
    /// is asked whenever a child has changed; once it says yes, COMMAND is made to end.
    func wait(
        signals: SignalSet, passedOn: SignalSet, hasLostContainer: () -> Bool
    ) throws(CommandFailure) -> ProcessEnd {
        var killTime: Int64?
        do throws(Errno) {
            while true {
                if let end = try System.wait(for: pid, blocking: false) { return end }
                if killTime == nil, hasLostContainer() {
                    killTime = System.now() + Self.graceMilliseconds * 1_000_000
                    send(SIGTERM)
                }
                if let time = killTime, System.now() > time { send(SIGKILL) }
                guard let signal = try System.nextSignal(of: signals, milliseconds: killTime == nil ? -1 : 200),
                    passedOn.contains(SignalSet(signal.number))
                else { continue }
                // What is typed at a terminal goes to COMMAND too, which is in the same process group;
                // a hangup only to the leader of the session, which may be this process.
                if !signal.isFromKernel || signal.number == SIGHUP { send(signal.number) }
            }
        } catch { throw CommandFailure("cannot wait for COMMAND", path: "process \(pid)", error) }
    }

    private func send(_ signal: Int32) {
        do throws(Errno) { try System.signal(pid, signal) } catch {}  // it has ended meanwhile
    }
}
