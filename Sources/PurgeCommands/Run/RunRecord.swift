import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem
import Synchronization

/// The events in the container of a run, received from the daemon as they happen and so independent of the journal. They are
/// written to the file of `--events`, and summed up for the summary.
final class RunRecord: Sendable {
    private typealias Line = ArraySlice<UInt8>
    /// The beginning of an event's line (`Event`), before its number.
    private static let beginning = Array("{\"seq\":".utf8)
    /// The time in nanoseconds for which the end of a run waits for a reader of the `--events` file that accepts nothing.
    private static let patience: Int64 = 5_000_000_000
    /// The number of lines that are collected before they are decoded. Decoding each line on arrival would be too slow.
    private static let batch = 512
    private struct State {
        /// The number of the newest event.
        var newest: Int64 = 0
        /// Whether the newest event is the unmount.
        var isUnmounted = false
        /// Events that the daemon could not deliver, and that the journal does not have either.
        var missing: Int64 = 0
        /// Failures that the daemon reports about its own end.
        var daemonFailures: [String] = []
        /// The daemon's report at the end: there are no more events, and the daemon no longer uses the store.
        var report: DaemonReport?
        /// Whether nothing more comes from the daemon.
        var hasEnded = false
        var tally: RunTally
        /// Lines that are not in the tally yet.
        var lines: [Line] = []
        var writingFailure: Errno?
        /// Events missing in the file because of that failure.
        var unwritten: Int64 = 0
        /// When the run began to end.
        var ending: Int64?

        mutating func addUp() {
            for line in lines {
                if let type = RunTally.plainTypes.first(where: { RunRecord.isOf($0.rawValue, line) }) {
                    tally.count(type)
                } else if let event = RunRecord.decode(Event.self, line) {
                    tally.add(event)
                }
            }
            lines.removeAll(keepingCapacity: true)
        }
    }

    private let path: String?
    private let file: FileDescriptor?
    private let state: Mutex<State>
    private let thread = Mutex<WorkThread?>(nil)
    /// Advances when the daemon has made its report, or has ended.
    private let completion = Gate()

    /// Opens the file before COMMAND begins, so that a bad name is reported at once.
    init(path: String?, demands: [EventDemand]) throws(CommandFailure) {
        self.path = path
        state = Mutex(State(tally: RunTally(demands: demands)))
        do throws(Errno) {
            file = try path.map { (path) throws(Errno) in
                if path == "-" { return try Self.standardOutput() }
                let file = try FileDescriptor.openOutput(path, O_TRUNC)
                // A pipe whose reader has stopped must not block this process forever.
                if try !System.status(file.raw).isRegularFile { try System.makeNonblocking(file.raw) }
                return file
            }
        } catch {
            let isClosed = path == "-" && error == .badFileDescriptor
            throw isClosed
                ? CommandFailure(
                    "cannot write the events", path: "-", error,
                    advice: "Standard output is closed or not open for writing: redirect it to a file.")
                : CommandFailure("cannot write the events", output: path ?? "", error)
        }
    }

    /// Opens standard output, which COMMAND has too. A file is duplicated, to share its position. Anything else is reopened, so
    /// that O_NONBLOCK does not affect COMMAND's writes.
    private static func standardOutput() throws(Errno) -> FileDescriptor {
        // A descriptor that was closed is a /dev/null that cannot be written (`Program`).
        guard try System.statusFlags(STDOUT_FILENO) & O_ACCMODE != O_RDONLY else { throw .badFileDescriptor }
        if try !System.status(STDOUT_FILENO).isRegularFile {
            do throws(Errno) {
                return try FileDescriptor.open("/proc/self/fd/\(STDOUT_FILENO)", O_WRONLY | O_NONBLOCK)
            } catch {}  // a socket
        }
        return try System.duplicate(STDOUT_FILENO)
    }

    /// Records the events numbered above `sequence`, as they arrive over the connection.
    func begin(_ line: FileDescriptor, after sequence: Int64, store: String, mountpoint: String) throws(CommandFailure)
    {
        state.withLock { $0.newest = sequence }
        let journal = RunJournal(store: store, mountpoint: mountpoint)
        do throws(Errno) {
            let reading = try WorkThread(name: "events") { [self] in
                read(line, journal)
                state.withLock { $0.hasEnded = true }
                completion.advance()
            }
            thread.withLock { $0 = reading }
        } catch { throw CommandFailure("cannot follow events", path: mountpoint, error) }
    }

    /// Records that the run is ending. Called when COMMAND has ended. From now on, a reader of the `--events` file that accepts
    /// nothing for `patience` is abandoned.
    func startEnding() { state.withLock { $0.ending = System.uptime() } }

    /// The number of the newest event.
    var newest: Int64 { state.withLock { $0.newest } }

    /// Waits for the daemon's report; returns nil if it does not come in time, or if the daemon has ended without one.
    func awaitReport(milliseconds: Int64) -> DaemonReport? {
        let seen = completion.generation
        if let report = state.withLock({ $0.report }) { return report }
        if state.withLock({ $0.hasEnded }) { return nil }
        completion.wait(while: seen, milliseconds: milliseconds)
        return state.withLock { $0.report }
    }

    /// Returns the tally of all events, and the daemon's report if there is one. If the daemon has ended or has made no report,
    /// first waits for its last lines.
    func end(hasDaemonEnded: Bool) -> (events: RunTally, report: DaemonReport?) {
        // Failures follow the report.
        if hasDaemonEnded || state.withLock({ $0.report }) == nil { thread.withLock { $0 }?.join() }
        return state.withLock { state in
            state.addUp()
            return (state.tally, state.report)
        }
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, _ line: Line) -> Value? {
        do { return try JSONText.decode(type, from: String(decoding: line, as: UTF8.self)) } catch { return nil }
    }

    /// Returns failures about events missing in the file of `--events`, and about demands of `--fail-on` that cannot be
    /// decided. If the store is kept, adds the losses in it that the daemon reported.
    func failures(isStoreKept: Bool) -> [CommandFailure] {
        let state = state.withLock { $0 }
        var failures: [CommandFailure] = []
        if let path, state.writingFailure == .timedOut {
            failures.append(
                CommandFailure(
                    "the events are incomplete", path: path,
                    "the reader stopped reading; the last \(state.unwritten) events are missing", advice: ""))
        } else if let path, let error = state.writingFailure {
            failures.append(CommandFailure("cannot write the events", path: path, error))
        }
        if let path, state.missing > 0 {
            failures.append(
                CommandFailure(
                    "the events are incomplete", path: path, "\(state.missing) events came too fast and are missing",
                    advice: "The journal could not be written either: check the disk under the store."))
        }
        if path == nil, state.missing > 0, let demand = state.tally.demands.first {
            failures.append(
                CommandFailure(
                    "cannot tell whether there were events of --fail-on", path: demand.text,
                    "\(state.missing) events came too fast and are lost",
                    advice: "The journal could not be written either: check the disk under the store."))
        }
        if let demand = state.tally.demands.first(where: { $0.count == 0 && $0.undecided > 0 }) {
            failures.append(
                CommandFailure(
                    "cannot tell whether there were events of --fail-on", path: demand.text,
                    "they came too fast for each to be recorded with its path",
                    advice: "Leave GLOB out to count events without a path too."))
        }
        if let failure = state.report?.recordFailure {
            failures.append(
                CommandFailure(status: ExitStatus.runFailed, message: "run: the record is incomplete: \(failure)"))
        }
        if isStoreKept {
            failures += state.daemonFailures.map { CommandFailure(status: ExitStatus.runFailed, message: $0) }
        }
        return failures
    }

    /// Reads the lines. Does no more than necessary with each, because the daemon does not wait for a slow reader.
    private func read(_ line: FileDescriptor, _ journal: RunJournal) {
        var rest: [UInt8] = []
        while true {
            let bytes: [UInt8]
            do throws(Errno) { bytes = try line.readSome(1 << 16) } catch { bytes = [] }  // the daemon was killed
            if bytes.isEmpty { break }
            let lines = (rest + bytes).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            rest = Array(lines.last ?? [])
            for line in lines.dropLast() { take(line, journal) }
        }
        if state.withLock({ $0.isUnmounted }) { return }
        // A daemon that was killed may have written a few more events to the journal than it could send.
        journal.visit(after: state.withLock { $0.newest }) { note($0) }
    }

    private func take(_ line: Line, _ journal: RunJournal) {
        guard line.starts(with: Self.beginning) else {
            guard let report = Self.decode(DaemonReport.self, line) else { return }
            if let failure = report.failure { return state.withLock { $0.daemonFailures.append(failure) } }
            state.withLock { $0.report = report }
            return completion.advance()
        }
        if Self.isOf("dropped", line) { return fill(Self.decode(Event.self, line), journal) }
        let digits = line.dropFirst(Self.beginning.count).prefix { (0x30...0x39).contains($0) }
        note(line, digits.reduce(Int64.zero) { $0 &* 10 &+ Int64($1 & 0xF) })
    }

    /// Returns whether a line is an event of this type. An event of type `dropped` stands for events that the daemon could not
    /// deliver.
    private static func isOf(_ type: String, _ line: Line) -> Bool {
        let quote = UInt8(ascii: "\"")
        // The number and the time come before the type.
        let rest = line.dropFirst(beginning.count).drop { $0 != quote }.dropFirst("\"time\":\"".utf8.count)
        return rest.drop { $0 != quote }.starts(with: "\",\"type\":\"\(type)\"".utf8)
    }

    /// Reads from the journal the events that came faster than this thread could receive them: from the last one it has up to
    /// the record about them. Other gaps in the numbers stand for events that only the journal has.
    private func fill(_ dropped: Event?, _ journal: RunJournal) {
        guard let dropped, let missed = dropped.reason.flatMap({ Int64($0.prefix { $0 != " " }) }) else { return }
        let last = state.withLock { $0.newest }
        var found: Int64 = 0
        journal.visit(after: last, flushed: true) { event in
            guard event.seq <= dropped.seq else { return }
            note(event)
            if event.type != .dropped { found += 1 }
        }
        state.withLock { state in
            state.missing += max(0, missed - found)
            state.newest = max(state.newest, dropped.seq)
        }
    }

    private func note(_ event: Event) { note(Array(JSONText.encode(event).utf8)[...], event.seq) }

    private func note(_ line: Line, _ number: Int64) {
        state.withLock { state in
            state.newest = number
            state.isUnmounted = Self.isOf("unmount", line)
            state.lines.append(line)
            if state.lines.count == Self.batch { state.addUp() }
        }
        write(line + [UInt8(ascii: "\n")])
    }

    private func write(_ output: Line) {
        guard let file else { return }
        do throws(Errno) {
            if let error = state.withLock({ $0.writingFailure }) { throw error }
            try send(output, to: file)
        } catch {
            state.withLock { state in
                state.writingFailure = error
                state.unwritten += 1
            }
        }
    }

    private func send(_ output: Line, to file: borrowing FileDescriptor) throws(Errno) {
        var rest = output
        var taken = System.uptime()
        while !rest.isEmpty {
            do throws(Errno) {
                rest = rest.dropFirst(try file.writeOnce(Array(rest)))
                taken = System.uptime()
            } catch .tryAgain {
                if let ending = state.withLock({ $0.ending }), System.uptime() - max(taken, ending) > Self.patience {
                    throw .timedOut
                }
                _ = try System.waitWritable(file.raw, milliseconds: 100)
            }
        }
    }
}

/// The journal of a run's store, for events that the daemon could not deliver.
private struct RunJournal: Sendable {
    let store: String
    let mountpoint: String

    /// Visits the events that can be read from the journal. With `flushed`, the daemon first writes its pending events.
    func visit(after sequence: Int64, flushed: Bool = false, _ body: (Event) -> Void) {
        do throws(CommandFailure) {
            if flushed { try MountedControl(place: mountpoint).flushJournal() }
        } catch {}  // the mount is gone, and the journal was written at its end if events were missed
        do throws(CommandFailure) {
            try History(store: store).visit(after: sequence, .usual) { (event) throws(CommandFailure) in body(event) }
        } catch {}  // missing events are counted
    }
}
