import PurgeModel
import PurgeStore
import PurgeSystem
import Synchronization

/// One open descriptor of `.purgefs/events`.
public final class EventReader: Sendable {
    private struct State {
        var position: EventRing.Position
        /// The rest of a line or record for which a read was too small.
        var rest: ArraySlice<UInt8> = []
        /// Where the events of an ended reader end.
        var end: EventRing.Position?
        /// For callers of poll(2), and for reads that wait: there may be both at once.
        var onChange: (@Sendable () -> Void)?
        var onData: (@Sendable () -> Void)?
    }
    private let state: Mutex<State>
    private let ring: EventRing
    private let clock: DeviceClock

    /// Gets events from now on.
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

    /// Called, on any thread, whenever there is something to read.
    public func onChange(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onChange = action } }

    /// The same, for reads that wait.
    public func onData(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onData = action } }

    public var isReadable: Bool {
        state.withLock { $0.end != nil || !$0.rest.isEmpty || ring.has($0.position, before: $0.end) }
    }

    /// Up to `limit` bytes; empty at the end; nil if there is nothing yet.
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

    /// A line, or the record about events for which this reader was too slow; empty if there is none.
    private func nextRecord(_ state: inout State) -> ArraySlice<UInt8> {
        let (missed, line) = ring.next(&state.position, before: state.end)
        guard let missed else { return line?[...] ?? [] }
        return EventRing.Line(.dropped(missed.count, seq: missed.sequence, time: clock.now.iso8601)).text[...]
    }
}
