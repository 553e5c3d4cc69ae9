import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeStore
import PurgeSystem

extension ExpectedStore {
    init(_ known: KnownDirectory?) { self = known.map { .directory($0.identity) } ?? .new }
}

/// The daemon of a mount, as seen by the process that started it.
final class DaemonProcess {
    let pid: pid_t
    /// This process's end of the connection. The daemon writes a byte when the mount is ready, and with `--send-events` then
    /// all events and its report (`DaemonReport`). With `--die-with-parent` the daemon ends when this end is closed.
    let line: FileDescriptor
    /// nil while the daemon runs.
    private(set) var end: ProcessEnd?

    private let store: KnownDirectory?

    private init(pid: pid_t, line: FileDescriptor, store: KnownDirectory?) {
        (self.pid, self.line, self.store) = (pid, line, store)
    }

    /// Starts `purgefs mount --foreground` in its own session. `options` go before the operands, which are passed as the user
    /// wrote them, so that ps shows them. If possible the daemon is a fork of this process, which is ready some milliseconds
    /// sooner than a newly loaded program. It serves only the `known` directory, or creates a new store if that is nil.
    static func start(
        programName: String, options: [String], store: String, known: KnownDirectory?, mountpoint: String
    ) throws(CommandFailure) -> DaemonProcess {
        let operands =
            store.hasPrefix("-") || mountpoint.hasPrefix("-")
            ? ["--", store, mountpoint] : [store, mountpoint]
        let words =
            [
                programName, "mount", "--foreground", OptionSpec.readyDescriptor.text,
                String(System.passedDescriptor), OptionSpec.knownStore.text, "\(ExpectedStore(known))",
            ] + options + operands
        do throws(Errno) {
            // With SIGCHLD ignored, the child's exit status would be lost.
            try System.setDefaultAction(of: SIGCHLD)
            let (ours, its) = try System.makeConnection()
            // Processes started by an app in a container are found by their environment (docs/HARNESSES.md), and a fork
            // loses a part of it.
            let isInContainer = getenv(RunEnvironment.mount) != nil
            let copy =
                isInContainer
                ? nil
                : try System.forkDetached(showing: words, passing: its.raw) {
                    Program.run(words.map { Array($0.utf8CString) }, console: .standard())
                }
            if let copy { return DaemonProcess(pid: copy, line: ours, store: known) }
            let pid = try System.spawnDetached(Places.ownBinary(), words, passing: its.raw)
            return DaemonProcess(pid: pid, line: ours, store: known)
        } catch { throw CommandFailure("cannot start the daemon", path: mountpoint, error) }
    }

    /// Makes each of `signals` end the daemon and then this process, from now until the very end of this process. So this
    /// process exits with status 0 only if no signal arrived. The caller has blocked the signals.
    func endTogether(mountpoint: String, on signals: SignalSet, message: String) throws(CommandFailure) {
        do throws(Errno) {
            try System.end(with: pid, mountpoint: mountpoint, on: signals, message: message)
        } catch { throw failedWait(error) }
        // Unmanaged: nobody releases it. While it is open, the daemon withdraws a new store if a signal arrives.
        _ = Unmanaged.passRetained(line)
    }

    /// Waits until the mount is ready, the daemon has ended, or one of `signals` arrives; a scan may take arbitrarily long.
    /// Returns the signal, if any. The caller has blocked the signals.
    func waitForWord(orOneOf signals: SignalSet) throws(CommandFailure) -> Int32? {
        do throws(Errno) {
            while true {
                let isReadable = try System.waitReadable(line.raw, or: signals)
                if let signal = try System.nextSignal(of: signals, milliseconds: 0) { return signal.number }
                if isReadable { return nil }
            }
        } catch { throw failedWait(error) }
    }

    /// Waits until the mount is ready. If the daemon ends first, returns how it ended.
    func waitUntilReady() throws(CommandFailure) -> ProcessEnd? {
        do throws(Errno) {
            if try line.readSome(1) == Array("+".utf8) { return nil }
            while end == nil { end = try System.wait(for: pid, blocking: true) }
            return end
        } catch { throw failedWait(error) }
    }

    private func failedWait(_ error: Errno) -> CommandFailure {
        CommandFailure("cannot wait for the daemon", path: "process \(pid)", error)
    }

    /// Describes the end of a daemon that ended before it was ready; nil if the daemon has reported the reason itself. A daemon
    /// that obeys a signal reports nothing, because only the process that started it knows whether it sent that signal.
    static func signalInWords(of end: ProcessEnd) -> String? {
        switch end {
        case .killed(let signal): "the daemon was killed by signal \(signal)"
        case .exited(let status):
            status > ExitStatus.signal ? "the daemon was told to end by signal \(status - ExitStatus.signal)" : nil
        }
    }

    /// Collects the daemon's exit status if the daemon has ended. Does not wait.
    func hasEnded() -> Bool {
        if end != nil { return true }
        do throws(Errno) {
            end = try System.wait(for: pid, blocking: false)
        } catch {
            end = .exited(ExitStatus.failed)  // no longer our child: its status has been collected elsewhere
        }
        return end != nil
    }

    /// Whether a signal killed the daemon. False after SIGTERM, which tells it to end.
    var wasKilled: Bool {
        if case .killed(let signal) = end { signal != SIGTERM } else { false }
    }

    var endInWords: String {
        switch end {
        case .exited(let status): "ended with status \(status)"
        case .killed(let signal): "was killed by signal \(signal)"
        case nil: "is running"
        }
    }

    /// Tells the daemon to unmount and end.
    func requestEnd() { signal(SIGTERM) }

    func kill() {
        signal(SIGKILL)
        _ = waitForEnd(milliseconds: 5000)
    }

    /// Whether a signal has stopped the daemon.
    var isStopped: Bool { ProcessTable.status(of: pid)?.state == "T" }
    /// The CPU time that the daemon has used so far, in user and kernel mode, in clock ticks.
    var usedTime: Int64 { ProcessTable.status(of: pid)?.usedTime ?? 0 }

    /// Waits for the daemon's end, for `milliseconds` at most. Returns whether it has ended.
    func waitForEnd(milliseconds: Int) -> Bool {
        let deadline = System.uptime() + Int64(milliseconds) * 1_000_000
        while !hasEnded() {
            let left = deadline - System.uptime()
            guard left > 0 else { return false }
            do throws(Errno) {
                _ = try System.waitForEnd(of: pid, milliseconds: Int32(clamping: left / 1_000_000 + 1))
            } catch { usleep(5_000) }
        }
        return true
    }

    private func signal(_ number: Int32) {
        guard end == nil else { return }
        do throws(Errno) { try System.signal(pid, number) } catch {}  // it has ended meanwhile
    }
}
