import Foundation
import Synchronization

/// Concurrent threads of a test; the first error of any thread is thrown at the end.
public enum Workers {
    public static func run(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        try start(count, body).join()
    }

    /// Starts threads and returns at once; `join` waits for their end.
    public static func start(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) -> Group {
        let group = Group(count)
        for index in 0..<count {
            let thread = Thread {
                group.finish(Result { try body(index) })
            }
            thread.stackSize = 1 << 20
            thread.start()
        }
        return group
    }

    public final class Group: Sendable {
        private let state: Mutex<(running: Int, error: (any Error)?)>
        init(_ count: Int) { state = Mutex((count, nil)) }

        func finish(_ result: Result<Void, any Error>) {
            state.withLock { state in
                state.running -= 1
                if case .failure(let error) = result, state.error == nil { state.error = error }
            }
        }
        public func join(within seconds: Double = 5 * Scale.patience) throws {
            try eventually(within: seconds, "the end of all workers") { state.withLock { $0.running == 0 } }
            if let error = state.withLock({ $0.error }) { throw error }
        }
    }
}
