import Synchronization

/// A thread that looks for work whenever it is woken, and ends once it has been told to end and finds none.
package final class WakefulThread: Sendable {
    /// The result of looking for work.
    package enum Turn {
        /// There was some, and there may be more.
        case again
        /// There is none.
        case idle
        /// There is some that cannot be done yet.
        case later(milliseconds: Int64)
    }
    private struct State {
        var isEnding = false
        var thread: WorkThread?
    }
    private let state = Mutex(State())
    private let gate = Gate()

    package init() {}

    /// - Parameter memory: what one look passes on to the next.
    package func start<Memory: Sendable>(
        name: String, memory: Memory, _ look: @escaping @Sendable (inout Memory) -> Turn
    ) throws(Errno) {
        let thread = try WorkThread(name: name) { [self] in
            var memory = memory
            run { look(&memory) }
        }
        state.withLock { $0.thread = thread }
    }
    package func start(name: String, _ look: @escaping @Sendable () -> Turn) throws(Errno) {
        try start(name: name, memory: ()) { _ in look() }
    }

    /// There is work.
    package func wake() { gate.advance() }

    /// Returns when there is no work left. Nothing may be added any more.
    package func end() {
        let thread = state.withLock { state in
            state.isEnding = true
            return state.thread
        }
        gate.advance()
        thread?.join()
    }

    private func run(_ look: () -> Turn) {
        while true {
            let seen = gate.generation
            let isEnding = state.withLock { $0.isEnding }
            switch look() {
            case .again: break
            case .idle:
                if isEnding { return }
                gate.wait(while: seen)
            case .later(let milliseconds): gate.wait(while: seen, milliseconds: milliseconds)
            }
        }
    }
}
