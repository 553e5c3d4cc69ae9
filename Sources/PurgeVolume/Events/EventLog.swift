import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Synchronization

/// The events of a volume. They are numbered, passed to live readers at once, and written to the journal by `flush`, which
/// the journal's own thread calls. No request waits for that.
public final class EventLog: Sendable {
    /// How many events, and how many bytes of them, may wait for a journal that cannot be written.
    static let unwrittenEvents = 100_000
    static let unwrittenBytes = 32 << 20
    /// How many waiting events wake the journal's thread.
    private static let backlog = 10_000
    /// The maximum length, in bytes, of a path or reason in an event. No system call accepts a longer path.
    static let longestText = 16 << 10

    private struct Waiting {
        var events = 0
        var bytes = 0
        var isFull: Bool { events >= unwrittenEvents || bytes >= unwrittenBytes }

        mutating func add(_ events: some Sequence<Event>) {
            for event in events {
                self.events += 1
                bytes += event.weight
            }
        }
        mutating func subtract(_ other: Waiting) {
            events -= other.events
            bytes -= other.bytes
        }
    }
    /// Events of one moment. Their times are formatted only when they are written, because many come from calls that should
    /// not wait.
    private struct Unwritten {
        var events: [Event]
        var moment: Moment
    }
    /// One moment by the device's clock and by the host's.
    private struct Moment {
        var simulated: Instant
        var real: Instant

        func date(_ event: inout Event) {
            // The event of a change of the device already has the time of the change.
            if event.time.isEmpty { event.time = simulated.iso8601 }
            if event.realTime == nil { event.realTime = real.iso8601 }
        }

        func dating(_ event: Event) -> Event {
            var event = event
            date(&event)
            return event
        }
    }
    private struct State {
        var sequence: Int64
        /// The highest number up to which all events are in the journal or have been dropped.
        var settled: Int64
        var unwritten: [Unwritten] = []
        /// The size of `unwritten`, and of the events that an earlier flush could not write.
        var waiting = Waiting()
        /// The number of events that found no room (`lost`), and of these the number that the journal does not mention yet
        /// (`dropped`).
        var lost = 0
        var dropped = 0
        var readers: [ObjectIdentifier: EventReader] = [:]
        var recorder: EventRecorder?
        var refusals = RefusalLimit()
        var failure: StoreError?
    }
    private let state: Mutex<State>
    private let ring = EventRing()
    /// Held while the journal is written. The value holds the events that earlier flushes could not write. When `flush`
    /// returns, every event appended before it is in the journal or in this value, or has been dropped.
    private let flushing = Mutex<[Event]>([])
    /// Advances when a `flush` is done.
    private let flushed = Gate()
    private let journal: Journal
    private let clock: DeviceClock
    private let processes = CallingProcesses()
    private let recording: Atomic<Bool>
    /// Requests a `flush`.
    private let wakeWriter: @Sendable () -> Void

    init(
        journal: Journal, clock: DeviceClock = DeviceClock(), isRecording: Bool = true,
        wakeWriter: @escaping @Sendable () -> Void = {}
    ) {
        self.journal = journal
        self.clock = clock
        self.wakeWriter = wakeWriter
        recording = Atomic(isRecording && !journal.isForReading)
        let last = journal.lastSequence
        state = Mutex(State(sequence: last, settled: last))
    }

    /// Whether events go into the journal. If not, the app's own changes of names need no events at all.
    var isRecording: Bool { recording.load(ordering: .relaxed) }

    /// Turns recording on or off. Live readers get events in any case, and pending events are still written.
    func record(_ isRecording: Bool) {
        recording.store(isRecording && !journal.isForReading, ordering: .relaxed)
    }

    /// Numbers events and passes them on. The app's own changes of names go to the journal only.
    func append(_ events: consuming [Event]) {
        guard !events.isEmpty else { return }
        let uptime = System.uptime()
        var wanted = events
        if wanted.contains(where: { RefusalLimit.concerns($0.type) }) {
            wanted = state.withLock { state in wanted.filter { state.refusals.admits($0, at: uptime) } }
        }
        guard !wanted.isEmpty else { return }
        for index in wanted.indices { processes.name(&wanted[index], at: uptime) }
        let moment = Moment(simulated: clock.now, real: Instant(nanoseconds: System.now()))
        let isKept = isRecording
        let (woken, isMuch) = state.withLock { state in
            for index in wanted.indices { Self.number(&wanted[index], &state) }
            var lines: [EventRing.Line] = []
            if state.readers.isEmpty {
                ring.clear()
            } else {
                for event in wanted where !event.type.isOfApp { lines.append(.init(moment.dating(event))) }
                ring.append(lines)
            }
            if isKept { Self.keep(Unwritten(events: wanted, moment: moment), &state) }
            let woken = lines.isEmpty ? [] : Array(state.readers.values)
            return (woken, state.waiting.events > Self.backlog && state.failure == nil)
        }
        for reader in woken { reader.wake() }
        if isMuch { wakeWriter() }
    }

    /// Notes, in the journal only, what the journal lacks before this point.
    func note(_ lack: String) {
        guard isRecording else { return }
        let moment = Moment(simulated: clock.now, real: Instant(nanoseconds: System.now()))
        state.withLock { state in
            var event = Event(type: .dropped, reason: lack)
            Self.number(&event, &state)
            Self.keep(Unwritten(events: [event], moment: moment), &state)
        }
    }

    private static func number(_ event: inout Event, _ state: inout State) {
        state.sequence += 1
        event.seq = state.sequence
        shorten(&event.path)
        shorten(&event.to)
        shorten(&event.reason)
        shorten(&event.cause)
        guard var passedOver = event.passedOver else { return }
        for index in passedOver.indices { passedOver[index].path = shortened(passedOver[index].path) }
        event.passedOver = passedOver
    }

    private static func shorten(_ text: inout String?) {
        if let long = text, long.utf8.count > longestText { text = shortened(long) }
    }

    private static func shortened(_ text: String) -> String {
        text.utf8.count <= longestText ? text : String(decoding: text.utf8.prefix(longestText), as: UTF8.self) + "..."
    }

    /// Keeps events for the journal. If too many are waiting, new events are dropped until the journal has noted the gap.
    private static func keep(_ new: consuming Unwritten, _ state: inout State) {
        var fitting = 0
        while fitting < new.events.count, state.dropped == 0, !state.waiting.isFull {
            state.waiting.add(CollectionOfOne(new.events[fitting]))
            fitting += 1
        }
        let lost = new.events.count - fitting
        new.events.removeLast(lost)
        state.dropped += lost
        state.lost += lost
        if !new.events.isEmpty { state.unwritten.append(new) }
    }
}

extension Event {
    /// The approximate number of bytes that the event takes while it waits for the journal.
    fileprivate var weight: Int {
        let texts = (path?.utf8.count ?? 0) + (to?.utf8.count ?? 0) + (reason?.utf8.count ?? 0)
        let others = passedOver?.reduce(0) { $0 + 64 + $1.path.utf8.count } ?? 0
        return 256 + texts + (cause?.utf8.count ?? 0) + others
    }
}

extension CallingProcesses {
    /// Replaces the calling thread, as FUSE reports it, by its process.
    fileprivate func name(_ event: inout Event, at uptime: Int64) {
        if let thread = event.pid {
            let process = process(ofThread: thread, at: uptime)
            (event.pid, event.process) = (process.pid, process.name)
        }
        // A thread that has ended no longer has the file open; whichever thread has it open now is unknown.
        event.passedOver = event.passedOver?.map { passed in
            guard let process = passed.pid.map({ process(ofThread: $0, at: uptime) }) else { return passed }
            var passed = passed
            (passed.pid, passed.process) = process.name == nil ? (nil, nil) : (process.pid, process.name)
            return passed
        }
    }
}

// The journal.
extension EventLog {
    /// Writes new events and samples to the journal. Events that cannot be written are kept for the next flush.
    func flush() {
        summarizeRefusals()
        flushing.withLock { held in
            writeOut(&held)
            if noteDropped() { writeOut(&held) }
        }
        flushed.advance()
    }

    /// Reports how many refusals were not reported one by one.
    func summarizeRefusals() {
        let summary = state.withLock { $0.refusals.takeSummary() }
        append(summary)
    }

    /// Requests a flush and waits for it, but at most `milliseconds`: another program may have locked the journal, or the disk
    /// may be slow.
    func awaitFlush(milliseconds: Int64) {
        let last = state.withLock { $0.sequence }
        let deadline = System.uptime() + milliseconds * 1_000_000
        // The first flush that ends may have begun before this call.
        for _ in 0..<2 {
            let seen = flushed.generation
            let left = (deadline - System.uptime()) / 1_000_000
            if left <= 0 || (state.withLock({ $0.settled >= last }) && !journal.holdsSamples) { return }
            wakeWriter()
            flushed.wait(while: seen, milliseconds: left)
        }
    }

    private func writeOut(_ held: inout [Event]) {
        var (new, settled) = state.withLock { state in
            defer { state.unwritten = [] }
            return (state.unwritten, state.sequence)
        }
        for index in new.indices {
            let moment = new[index].moment
            for place in new[index].events.indices { moment.date(&new[index].events[place]) }
            held += new[index].events
        }
        do throws(StoreError) {
            if journal.isForReading {
                // A journal that is open for reading keeps nothing.
            } else if held.isEmpty {
                try journal.writeHeld()
            } else {
                renumber(&held, after: try journal.makeReady())
                try journal.append(held)
            }
            var written = Waiting()
            written.add(held)
            held = []
            state.withLock { state in
                state.settled = max(state.settled, settled)
                state.waiting.subtract(written)
                state.failure = nil
            }
        } catch {
            state.withLock { $0.failure = error }
        }
    }

    /// Gives events numbers after `last`, because a journal that could not be opened until now may already have events.
    private func renumber(_ events: inout [Event], after last: Int64) {
        guard let first = events.first?.seq, first <= last else { return }
        for index in events.indices { events[index].seq += last - first + 1 }
        state.withLock { $0.sequence += last - first + 1 }
    }

    /// Notes in the journal how many events it lacks, once it can be written again. Returns whether there was anything to
    /// note.
    private func noteDropped() -> Bool {
        let moment = Moment(simulated: clock.now, real: Instant(nanoseconds: System.now()))
        return state.withLock { state in
            guard state.failure == nil, state.dropped > 0 else { return false }
            var event = Event.dropped(state.dropped)
            state.dropped = 0
            Self.number(&event, &state)
            Self.keep(Unwritten(events: [event], moment: moment), &state)
            return true
        }
    }

    /// The reason why the last flush could not write the journal; nil if it could.
    var failure: StoreError? { state.withLock { $0.failure } }

    /// How many events the journal lacks.
    var missing: Int { state.withLock { $0.lost + ($0.failure == nil ? 0 : $0.waiting.events) } }
}

// Readers.
extension EventLog {
    /// Returns a reader that gets events from now on.
    public func addReader() -> EventReader {
        state.withLock { state in
            let reader = EventReader(ring, clock)
            state.readers[ObjectIdentifier(reader)] = reader
            return reader
        }
    }
    func remove(_ reader: EventReader) {
        state.withLock { $0.readers[ObjectIdentifier(reader)] = nil }
        reader.end()
    }
    /// Whether events may have left the stream before they reached the journal. The stream has room for 1 MiB of lines, and
    /// JSON escapes a byte of text to at most six. So up to 128 KiB of waiting events are certainly still in the stream.
    var hasMuchToWrite: Bool { state.withLock { $0.waiting.bytes > 1 << 17 } }

    /// Gives end of file to every reader except the recorder.
    public func endReaders() {
        let readers = state.withLock { state in
            let ended = state.readers.filter { $0.key != state.recorder.map { ObjectIdentifier($0.reader) } }
            for key in ended.keys { state.readers[key] = nil }
            return Array(ended.values)
        }
        for reader in readers { reader.end() }
    }

    /// Returns the recorder, which gets all live events from now on, up to the last event of the mount.
    public func addRecorder() -> EventRecorder {
        let recorder = EventRecorder(addReader())
        state.withLock { $0.recorder = recorder }
        return recorder
    }
    /// Ends the recorder after the last event, and waits for it.
    func endRecorder() {
        guard let recorder = state.withLock({ $0.recorder }) else { return }
        remove(recorder.reader)
        recorder.awaitEnd()
    }

    /// Whether there is a recorder and it has sent the last event.
    public var isRecordComplete: Bool {
        state.withLock { $0.recorder }?.isComplete.load(ordering: .sequentiallyConsistent) ?? false
    }
}
