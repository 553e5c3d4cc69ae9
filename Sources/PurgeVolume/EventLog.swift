import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Synchronization

/// What happens in a volume: numbered, handed to live readers at once, written to the journal by
/// whoever calls `flush` (never a request's own thread).
public final class EventLog: Sendable {
    /// A reader that is this far behind loses events (SPEC section 5).
    static let readerLimit = 1 << 20
    /// `refused` events of one file within this time are one event.
    private static let refusalSpacing: Int64 = 1_000_000_000

    private struct State {
        var sequence: Int64
        var unwritten: [Event] = []
        var readers: [ObjectIdentifier: EventReader] = [:]
        var lastRefusal: (path: String?, time: Int64) = (nil, .min)
        var failure: StoreError?
    }
    private let state: Mutex<State>
    /// Held by whoever writes to the journal: when `flush` returns, what came before it is there.
    private let flushing = Mutex(())
    private let journal: Journal

    init(journal: Journal) {
        self.journal = journal
        state = Mutex(State(sequence: journal.lastSequence))
    }

    func append(_ events: [Event]) {
        guard !events.isEmpty else { return }
        let now = System.now()
        let events = Self.withProcesses(events)
        let woken = state.withLock { state in
            var lines = ""
            for event in events {
                if event.type == .refused {
                    // A program that tries again and again would fill the journal with one fact.
                    if state.lastRefusal.path == event.path && now - state.lastRefusal.time < Self.refusalSpacing {
                        continue
                    }
                    state.lastRefusal = (event.path, now)
                }
                var numbered = event
                state.sequence += 1
                numbered.seq = state.sequence
                numbered.time = Instant(nanoseconds: now).iso8601
                state.unwritten.append(numbered)
                if !state.readers.isEmpty { lines += JSONText.encode(numbered) + "\n" }
            }
            for reader in state.readers.values { reader.append(lines) }
            return Array(state.readers.values)
        }
        for reader in woken { reader.wake() }
    }

    /// FUSE names the thread that asked; people know processes.
    private static func withProcesses(_ events: [Event]) -> [Event] {
        var known: [pid_t: pid_t] = [:]
        return events.map { event in
            guard let thread = event.pid else { return event }
            let process = known[thread] ?? System.process(ofThread: thread) ?? thread
            known[thread] = process
            var event = event
            event.pid = process
            return event
        }
    }

    /// Writes what has come up to the journal. What could not be written is kept for the next time.
    func flush() { flushing.withLock { _ in writeOut() } }

    private func writeOut() {
        let events = state.withLock { state in
            defer { state.unwritten = [] }
            return state.unwritten
        }
        guard !events.isEmpty else { return }
        do throws(StoreError) {
            try journal.append(events)
        } catch {
            state.withLock { state in
                state.unwritten = events + state.unwritten.prefix(100_000)
                state.failure = error
            }
        }
    }

    /// Why the journal could not be written, if it could not.
    var failure: StoreError? { state.withLock { $0.failure } }

    func add(_ reader: EventReader) { state.withLock { $0.readers[ObjectIdentifier(reader)] = reader } }
    func remove(_ reader: EventReader) {
        state.withLock { $0.readers[ObjectIdentifier(reader)] = nil }
        reader.end()
    }
    /// Every reader gets its end of file.
    public func endReaders() {
        let readers = state.withLock { state in
            defer { state.readers = [:] }
            return Array(state.readers.values)
        }
        for reader in readers { reader.end() }
    }
}

/// One open descriptor of `.purgefs/events`.
public final class EventReader: Sendable {
    fileprivate struct State {
        var pending: [UInt8] = []
        var dropped = 0
        var isEnded = false
        /// For who sleeps in poll(2), and for reads that wait: there may be both at once.
        var onChange: (@Sendable () -> Void)?
        var onData: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())

    init() {}

    fileprivate func append(_ lines: String) {
        guard !lines.isEmpty else { return }
        state.withLock { state in
            if state.pending.count + lines.utf8.count > EventLog.readerLimit {
                state.dropped += lines.utf8.count { $0 == UInt8(ascii: "\n") }
            } else {
                state.reportDropped()
                state.pending += Array(lines.utf8)
            }
        }
    }

    fileprivate func wake() {
        let (onChange, onData) = state.withLock { ($0.onChange, $0.onData) }
        onChange?()
        onData?()
    }

    fileprivate func end() {
        state.withLock { $0.isEnded = true }
        wake()
    }

    /// Called, on any thread, whenever there is something to read.
    public func onChange(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onChange = action } }

    /// The same, for reads that wait.
    public func onData(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onData = action } }

    public var isReadable: Bool { state.withLock { !$0.pending.isEmpty || $0.dropped > 0 || $0.isEnded } }

    /// Up to `limit` bytes; empty at the end; nil when there is nothing yet.
    public func take(limit: Int) -> [UInt8]? {
        state.withLock { state in
            if state.pending.isEmpty { state.reportDropped() }
            guard !state.pending.isEmpty else { return state.isEnded ? [] : nil }
            let taken = Array(state.pending.prefix(limit))
            state.pending.removeFirst(taken.count)
            return taken
        }
    }
}

extension EventReader.State {
    /// The record that stands for events this reader was too slow for.
    fileprivate mutating func reportDropped() {
        guard dropped > 0 else { return }
        let time = Instant(nanoseconds: System.now()).iso8601
        pending += Array("{\"time\":\"\(time)\",\"type\":\"dropped\",\"events\":\(dropped)}\n".utf8)
        dropped = 0
    }
}
