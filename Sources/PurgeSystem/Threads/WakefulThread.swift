import Synchronization

/// A thread that looks for work whenever it is woken. After `end` is called, the thread ends as soon as it finds no work.
package final class WakefulThread: Sendable {
    /// The result of looking for work.
    package enum Turn {
        /// Some work was done, and there may be more.
        case again
        /// There is no work.
        case idle
        /// There is work that cannot be done yet.
        case later(milliseconds: Int64)
    }
    private struct State {
        var isEnding = false
        var thread: WorkThread?
    }
    private let state = Mutex(State())
    private let gate = Gate()

    package init() {}

    /// - Parameter memory: a value that each look passes on to the next.
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

    /// Wakes the thread to look for work.
    package func wake() { gate.advance() }

    /// Waits until no work is left, and ends the thread. No work may be added from now on.
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
