import PurgeModel
import PurgeStore
import PurgeSystem
import Synchronization

/// A reader of live events: one open descriptor of `.purgefs/events`, or the recorder.
public final class EventReader: Sendable {
    private struct State {
        var position: EventRing.Position
        /// The rest of a line or record that did not fit into the last read.
        var rest: ArraySlice<UInt8> = []
        /// The position at which an ended reader's events end.
        var end: EventRing.Position?
        /// Callbacks for poll(2) and for blocking reads; both may be set at once.
        var onChange: (@Sendable () -> Void)?
        var onData: (@Sendable () -> Void)?
    }
    private let state: Mutex<State>
    private let ring: EventRing
    private let clock: DeviceClock

    /// Makes a reader that gets events from now on.
    init(_ ring: EventRing, _ clock: DeviceClock) {
        self.ring = ring
        self.clock = clock
        state = Mutex(State(position: ring.end))
    }

    func wake() {
        let (onChange, onData) = state.withLock { ($0.onChange, $0.onData) }
        onChange?()
        onData?()
    }

    func end() {
        state.withLock { $0.end = $0.end ?? ring.end }
        wake()
    }

    /// Sets an action that is called, on any thread, whenever there is something to read.
    public func onChange(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onChange = action } }

    /// Sets the action for blocking reads, called on any thread whenever there is something to read.
    public func onData(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onData = action } }

    public var isReadable: Bool {
        state.withLock { $0.end != nil || !$0.rest.isEmpty || ring.has($0.position, before: $0.end) }
    }

    /// Returns up to `limit` bytes: empty at the end, nil if there is nothing yet.
    public func take(limit: Int) -> [UInt8]? {
        state.withLock { state in
            var taken: [UInt8] = []
            while taken.count < limit {
                if state.rest.isEmpty { state.rest = nextRecord(&state) }
                if state.rest.isEmpty { break }
                let piece = state.rest.prefix(limit - taken.count)
                taken += piece
                state.rest = state.rest.dropFirst(piece.count)
            }
            // Keeps only the remaining bytes, not the whole line.
            state.rest = ArraySlice(Array(state.rest))
            return taken.isEmpty && state.end == nil ? nil : taken
        }
    }

    /// Returns a line, or a record of the events that this reader was too slow for; empty if there is neither.
    private func nextRecord(_ state: inout State) -> ArraySlice<UInt8> {
        let (missed, line) = ring.next(&state.position, before: state.end)
        guard let missed else { return line?[...] ?? [] }
        return EventRing.Line(.dropped(missed.count, seq: missed.sequence, time: clock.now.iso8601)).text[...]
    }
}
