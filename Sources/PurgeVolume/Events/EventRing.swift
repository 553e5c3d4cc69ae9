import Synchronization

/// The newest events as JSON lines, kept once for all readers of `.purgefs/events`: each reader has its own
/// place in it, so one that never reads costs nothing. A leaf among locks.
final class EventRing: Sendable {
    /// Bytes. A reader that is this far behind loses events.
    static let limit = 1 << 20
    /// Bytes that a line costs beside its text.
    private static let overhead = 64

    struct Position {
        /// Of the line to be read next, counted from the first that the ring ever held.
        var line: Int
    }
    private struct State {
        var lines: [[UInt8]?] = []
        /// Those before are gone.
        var head = 0
        /// The number of the line at `head`.
        var first = 0
        var bytes = 0
        var end: Int { first + lines.count - head }
    }
    private let state = Mutex(State())

    /// The oldest make room.
    func append(_ lines: [[UInt8]]) {
        state.withLock { state in
            for line in lines {
                state.lines.append(line)
                state.bytes += line.count + Self.overhead
                while state.bytes > Self.limit { Self.dropFirst(&state) }
            }
        }
    }

    /// Nobody reads.
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

    /// The line at `position`, which moves on; before that, the number of lines that are gone.
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
