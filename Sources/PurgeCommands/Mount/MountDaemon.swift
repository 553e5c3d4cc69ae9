import Glibc
import PurgeCommandLine
import PurgeFUSE
import PurgeModel
import PurgeStore
import PurgeSystem

extension OptionSpec {
    static let readyDescriptor = OptionSpec(
        "ready-fd", .number("N"), hidden: true, "descriptor that gets one byte when the mount is ready")
    static let diesWithParent = OptionSpec(
        "die-with-parent", .none, hidden: true, "end when the other end of --ready-fd is closed")
    static let removeStore = OptionSpec(
        "remove-store", .directory, hidden: true,
        "at the end, remove the files that a killed `purgefs run` made in DIR")
    static let knownStore = OptionSpec(
        "known-store", .text("DEVICE:INODE"), hidden: true,
        "fail unless STORE is this directory, or with `new` does not exist")

    static let sendsEvents = OptionSpec(
        "send-events", .none, hidden: true, "write all events to --ready-fd, and at the end the losses")
    static let sendsStatus = OptionSpec(
        "send-status", .none, hidden: true, "with --send-events: write the last status too")
    static let runsApp = OptionSpec(
        "run-app", .none, hidden: true, "launch the app before the mount is ready, and terminate it when the mount ends"
    )
    static let controlsApp = OptionSpec(
        "control-app", .none, hidden: true, "with --run-app: stop, continue and kill the other children of the parent")
    static let discardsStore = OptionSpec(
        "discard-store", .none, hidden: true, "write nothing to the store at the end, because it is removed then")

    static let traceOutput = OptionSpec("trace-file", .file, hidden: true, "write the trace to FILE")

    static let recordOutput = OptionSpec("record-file", .file, hidden: true, "write the record to FILE")
    static let recordsData = OptionSpec("record-data", .none, hidden: true, "with --record-file: what is written, too")

    static let daemon: [OptionSpec] = [
        readyDescriptor, diesWithParent, removeStore, knownStore, sendsEvents, sendsStatus, runsApp, controlsApp,
        discardsStore, traceOutput, recordOutput, recordsData,
    ]
}

/// This process as the daemon of a mount (`purgefs mount --foreground`).
struct MountDaemon {
    static let interrupted = "mount: interrupted; nothing is mounted"

    private var request: MountRequest
    private let line: FileDescriptor?
    private let log: FileDescriptor?
    private let diesWithParent: Bool
    private let area: RunArea?
    private let serviceManager: ServiceManager?
    private let partingWords = PartingWords.make()

    init(
        _ request: MountRequest, _ arguments: Arguments, _ serviceManager: ServiceManager?, expected: ExpectedStore?
    ) throws(CommandFailure) {
        self.serviceManager = serviceManager
        // Paths become absolute because the daemon leaves its working directory, so that others can unmount or remove it.
        var request = request
        request.storePath = Places.resolvedOrParent(request.storePath) ?? request.storePath
        request.mountpoint = Places.resolved(request.mountpoint) ?? request.mountpoint
        self.request = request
        line = arguments.text(.readyDescriptor).flatMap { Int32($0) }.map { FileDescriptor(adopting: $0) }
        diesWithParent = arguments.has(.diesWithParent)
        // `run` itself reports a full disk when it occurs.
        self.request.warnsOfSmallDisk = !diesWithParent
        area = arguments.text(.removeStore).map { [mountpoint = request.mountpoint] root in
            RunArea(root: root, mountpoint: mountpoint)
        }
        self.request.start = area?.root
        self.request.expectedStore = arguments.text(.knownStore).flatMap { ExpectedStore($0) } ?? expected
        if arguments.has(.runsApp) { self.request.runApp(arguments) }
        self.request.isStoreDiscarded = arguments.has(.discardsStore)
        self.request.whenEnding = { Self.tell(serviceManager, .stopping) }
        self.request.trace = try Self.trace(arguments)
        self.request.record = try Self.record(arguments)
        do throws(Errno) {
            log = try arguments.text(.log).map { (path) throws(Errno) in
                try FileDescriptor.openOutput(path, O_APPEND)
            }
            if let line { try System.closeOnExec(line.raw) }
            if let line, !diesWithParent { self.request.isAwaited = { !Self.isClosed(line) } }
            if let line, arguments.has(.sendsEvents) {
                self.request.report(withStatus: arguments.has(.sendsStatus)) { Self.send($0, to: line) }
            }
        } catch { throw CommandFailure("cannot open the log", output: arguments.text(.log) ?? "", error) }
    }

    private static func trace(_ arguments: Arguments) throws(CommandFailure) -> Trace? {
        guard let path = arguments.text(.traceOutput) else {
            return arguments.has(.trace) ? Trace(arguments.text(.trace).flatMap(Trace.Family.init)) : nil
        }
        do throws(Errno) { return Trace(nil, to: try FileDescriptor.openOutput(path, O_TRUNC)) } catch {
            throw CommandFailure("cannot write the trace", output: path, error)
        }
    }

    private static func record(_ arguments: Arguments) throws(CommandFailure) -> CallRecord? {
        guard let path = arguments.text(.recordOutput) else { return nil }
        do throws(Errno) {
            let output = try FileDescriptor.openOutput(path, O_TRUNC)
            return CallRecord(to: output, keepsData: arguments.has(.recordsData))
        } catch { throw CommandFailure("cannot write the record", output: path, error) }
    }

    private static func send(_ lines: [UInt8], to line: FileDescriptor) -> Bool {
        do throws(Errno) { try line.writeAll(lines) } catch { return false }  // the listener is gone
        return true
    }

    /// Serves until the mount is gone.
    func serve() throws(CommandFailure) {
        do throws(Errno) {
            // With these signals ignored, a closed pipe or this process's file size limit only makes that one write fail.
            for signal in [SIGPIPE, SIGXFSZ] { try System.ignore(signal) }
        } catch { throw CommandFailure("cannot serve", path: request.mountpoint, error) }
        var isReady = false
        let result = Result { () throws(StoreError) in
            try MountService.serve(request) {
                isReady = true
                becomeReady()
                Self.tell(serviceManager, .ready)
            }
        }
        if let area, parentIsGone { try area.remove() }
        do throws(StoreError) { try result.get() } catch { throw failure(error, wasReady: isReady) }
    }

    /// Sends a message to the service manager. The mount also works without one.
    private static func tell(_ manager: ServiceManager?, _ message: ServiceManager.Message) {
        do throws(Errno) { try manager?.tell(message) } catch {
            Console.standard().warn("warning: cannot send \(message.rawValue) to the service manager: \(error)")
        }
    }

    private func failure(_ error: StoreError, wasReady: Bool) -> CommandFailure {
        if !wasReady || request.isAwaited(), let signal = MountService.interruption {
            // The process that started this one learns the signal from the status, and knows whether it sent it.
            return CommandFailure(status: ExitStatus.signal + signal, message: line == nil ? Self.interrupted : "")
        }
        guard wasReady else { return CommandFailure("cannot mount", error) }
        let failure = CommandFailure("unmounted", error)
        if let partingWords { PartingWords.leave(failure.message, in: partingWords) }
        _ = request.eventSink?(Array((JSONText.encode(DaemonReport(failure: failure.message)) + "\n").utf8))
        return failure
    }

    private var parentIsGone: Bool { line.map(Self.isClosed) ?? false }

    /// Whether the parent has closed its end. The parent never writes, so our end is readable only then.
    private static func isClosed(_ line: FileDescriptor) -> Bool {
        do throws(Errno) { return try System.waitReadable(line.raw, milliseconds: 0) } catch { return true }
    }

    /// Tells the waiting process that the mount is ready, and leaves the working directory and the terminal.
    private func becomeReady() {
        do throws(Errno) {
            if line != nil || log != nil { try redirect() }
            if line != nil { try System.changeDirectory("/") }
        } catch {
            // The daemon ends itself, because the waiting process would otherwise wait for ever.
            Console.standard().warn("the daemon cannot leave its terminal: \(error)")
            return endSelf()
        }
        guard let line else { return }
        do throws(Errno) {
            _ = try line.writeOnce("+")
            if diesWithParent { try watchParent(line) }
        } catch {
            // The waiting process is gone. Only a mount that is meant to outlive it continues.
            if diesWithParent { endSelf() }
        }
    }

    private func redirect() throws(Errno) {
        let nowhere = try FileDescriptor.open("/dev/null", O_RDWR)
        if line != nil { try System.duplicate(nowhere.raw, as: STDIN_FILENO) }
        let output = log ?? nowhere
        try System.duplicate(output.raw, as: STDOUT_FILENO)
        try System.duplicate(output.raw, as: STDERR_FILENO)
    }

    /// Ends this process when the parent ends. PR_SET_PDEATHSIG would not do: it is lost when a thread changes its identity,
    /// and it is sent when the parent's thread ends, not the parent.
    private func watchParent(_ line: FileDescriptor) throws(Errno) {
        let before = try System.block(SignalSet(rawValue: .max))  // other threads wait for the signals
        let result = Result { () throws(Errno) in
            _ = try WorkThread(name: "parent") {
                do throws(Errno) { _ = try line.readSome(1) } catch {}  // either way the parent is gone
                endSelf()
            }
        }
        try System.setMask(before)
        try result.get()
    }
}

extension MountRequest {
    /// Makes the mount start the app on behalf of the parent of this process.
    fileprivate mutating func runApp(_ arguments: Arguments) {
        appProcess = getppid()
        controlsProcesses = arguments.has(.controlsApp)
        appState = arguments.startState.map { $0.app ?? .background } ?? .foreground
    }
}

/// The data after the last event on the connection of `--send-events`.
struct DaemonReport: Codable {
    /// The message for the user about a failure, on its own line.
    var failure: String?
    /// The status, if the starter asked for it.
    var status: StatusReport?
    /// How many calls failed because the disk under the store was full.
    var hostRefusals: Int?
    /// Why the file of `--record` is incomplete.
    var recordFailure: String?
}

extension MountRequest {
    /// Sends all events, and at the end a `DaemonReport`.
    fileprivate mutating func report(withStatus: Bool, _ send: @escaping @Sendable ([UInt8]) -> Bool) {
        eventSink = send
        whenComplete = { [record] status, hostRefusals in
            let last = DaemonReport(
                status: withStatus ? status : nil, hostRefusals: hostRefusals,
                recordFailure: record?.failure.map { "\($0)" })
            _ = send(Array((JSONText.encode(last) + "\n").utf8))
        }
    }
}

/// Ends this process as SIGTERM from outside would.
private func endSelf() {
    do throws(Errno) { try System.signal(getpid(), SIGTERM) } catch {}  // always permitted
}
