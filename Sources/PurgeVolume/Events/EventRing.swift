import PurgeModel
import PurgeStore
import Synchronization

/// The newest events as JSON lines, kept once for all readers. Each reader has its own position in the ring, so a reader that
/// never reads costs nothing. The lock is a leaf: no other lock is taken under it.
final class EventRing: Sendable {
    /// The size of the ring in bytes. A reader that is further behind loses events.
    static let limit = 1 << 20
    /// How many bytes a line takes beside its text.
    private static let overhead = 64

    struct Line {
        /// The number of the event.
        var sequence: Int64
        /// The event as JSON, with a newline at the end.
        var text: [UInt8]

        init(_ event: Event) {
            sequence = event.seq
            text = Array((JSONText.encode(event) + "\n").utf8)
        }
    }
    struct Position {
        /// The number of the line to be read next, counted from the first that was ever in the ring.
        var line: Int
        /// The number of the newest event when this position was taken.
        let sequence: Int64
    }
    /// Lines that left the ring before they were read.
    struct Missed {
        var count: Int
        /// The number of the last missed event.
        var sequence: Int64
    }
    private struct State {
        var lines: [Line?] = []
        /// The index of the oldest line that is still in the ring.
        var head = 0
        /// The number of the line at `head`.
        var first = 0
        var bytes = 0
        /// The numbers of the event before `first`, and of the newest one.
        var lastGone: Int64 = 0
        var last: Int64 = 0
        var end: Int { first + lines.count - head }
    }
    private let state = Mutex(State())

    /// Appends lines; the oldest ones make room.
    func append(_ lines: [Line]) {
        state.withLock { state in
            for line in lines {
                state.lines.append(line)
                state.last = line.sequence
                state.bytes += line.text.count + Self.overhead
                while state.bytes > Self.limit { Self.dropFirst(&state) }
            }
        }
    }

    /// Empties the ring, because there are no readers.
    func clear() {
        state.withLock { state in
            guard state.end > state.first else { return }
            (state.first, state.lines, state.head, state.bytes) = (state.end, [], 0, 0)
            state.lastGone = state.last
        }
    }

    var end: Position { state.withLock { Position(line: $0.end, sequence: $0.last) } }

    func has(_ position: Position, before end: Position?) -> Bool {
        state.withLock { position.line < min($0.end, end?.line ?? .max) }
    }

    /// Returns the line at `position`, or describes the lines that left the ring before they were read, and advances `position`
    /// past them. Returns neither if there is nothing new.
    func next(_ position: inout Position, before end: Position?) -> (missed: Missed?, line: [UInt8]?) {
        state.withLock { state in
            let limit = min(state.end, end?.line ?? .max)
            let missed = min(state.first, limit) - position.line
            if missed > 0 {
                position.line += missed
                return (Missed(count: missed, sequence: min(end?.sequence ?? .max, state.lastGone)), nil)
            }
            guard position.line < limit, let line = state.lines[state.head + position.line - state.first] else {
                return (nil, nil)
            }
            position.line += 1
            return (nil, line.text)
        }
    }

    private static func dropFirst(_ state: inout State) {
        if let line = state.lines[state.head] {
            state.bytes -= line.text.count + overhead
            state.lastGone = line.sequence
        }
        state.lines[state.head] = nil
        state.head += 1
        state.first += 1
        guard state.head * 2 > state.lines.count, state.head > 1000 || state.head == state.lines.count else { return }
        state.lines.removeFirst(state.head)
        state.head = 0
    }
}
