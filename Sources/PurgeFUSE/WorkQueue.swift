import PurgeSystem
import Synchronization

/// One thread that does what it is handed, in order: commands and notifications, which may wait
/// for requests and so must not keep a worker.
final class WorkQueue: Sendable {
    private struct State {
        var work: [@Sendable () -> Void] = []
        var isEnding = false
        var thread: WorkThread?
    }
    private let state = Mutex(State())
    private let gate = Gate()

    func start(name: String) throws(Errno) {
        let thread = try WorkThread(name: name) { [self] in run() }
        state.withLock { $0.thread = thread }
    }

    func add(_ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.work.append(work) }
        gate.advance()
    }

    /// Returns when all that was handed in is done.
    func end() {
        let thread = state.withLock { state in
            state.isEnding = true
            return state.thread
        }
        gate.advance()
        thread?.join()
    }

    private func run() {
        while true {
            let seen = gate.generation
            let (batch, isEnding) = state.withLock { state in
                defer { state.work = [] }
                return (state.work, state.isEnding)
            }
            for work in batch { work() }
            if !batch.isEmpty { continue }
            if isEnding { return }
            gate.wait(while: seen)
        }
    }
}
