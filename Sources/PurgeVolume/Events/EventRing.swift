import Synchronization

/// The newest events as JSON lines, kept once for all readers of `.purgefs/events`: each reader has its own position in
/// it, so one that never reads costs nothing. Its lock is a leaf.
final class EventRing: Sendable {
    /// In bytes. A reader that is this far behind loses events.
    static let limit = 1 << 20
    /// How many bytes a line takes beside its text.
    private static let overhead = 64

    struct Position {
        /// The number of the line to be read next, counted from the first that was ever in the ring.
        var line: Int
    }
    private struct State {
        var lines: [[UInt8]?] = []
        /// Earlier ones are gone.
        var head = 0
        /// The number of the line at `head`.
        var first = 0
        var bytes = 0
        var end: Int { first + lines.count - head }
    }
    private let state = Mutex(State())

    /// The oldest lines make room.
    func append(_ lines: [[UInt8]]) {
        state.withLock { state in
            for line in lines {
                state.lines.append(line)
                state.bytes += line.count + Self.overhead
                while state.bytes > Self.limit { Self.dropFirst(&state) }
            }
        }
    }

    /// There are no readers.
    func clear() {
        state.withLock { state in
            guard state.end > state.first else { return }
            (state.first, state.lines, state.head, state.bytes) = (state.end, [], 0, 0)
        }
    }

    var end: Position { state.withLock { Position(line: $0.end) } }

    func has(_ position: Position, before end: Position?) -> Bool {
        state.withLock { position.line < min($0.end, end?.line ?? .max) }
    }

    /// The line at `position`, which is advanced, and how many lines before it are gone.
    func next(_ position: inout Position, before end: Position?) -> (missed: Int, line: [UInt8]?) {
        state.withLock { state in
            let end = min(state.end, end?.line ?? .max)
            let missed = max(0, min(state.first, end) - position.line)
            position.line += missed
            guard missed == 0, position.line < end else { return (missed, nil) }
            defer { position.line += 1 }
            return (0, state.lines[state.head + position.line - state.first])
        }
    }

    private static func dropFirst(_ state: inout State) {
        state.bytes -= (state.lines[state.head]?.count ?? 0) + overhead
        state.lines[state.head] = nil
        state.head += 1
        state.first += 1
        guard state.head * 2 > state.lines.count, state.head > 1000 || state.head == state.lines.count else { return }
        state.lines.removeFirst(state.head)
        state.head = 0
    }
}
