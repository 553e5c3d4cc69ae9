import Foundation
import Synchronization

/// Limits how many `async` tests have a container at once; others wait for their turn. Swift Testing starts all tests at once,
/// and each container takes descriptors and three processes.
final class Permits: Sendable {
    private struct State {
        var free: Int
        var last = 0
        /// The waiters, in ascending order of their numbers.
        var waiting: [(number: Int, continuation: CheckedContinuation<Void, any Error>)] = []
    }

    static let shared = Permits(count(descriptors: descriptors()))

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(free: count)) }

    /// Returns the number of permits: at least one and at most a hundred. A container takes eight descriptors while it is
    /// created, and a quarter of all descriptors is left to the tests.
    static func count(descriptors: Int) -> Int { max(1, min(100, descriptors / 4 * 3 / 8)) }

    private static func descriptors() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    /// Performs `body` with a permit. Throws `CancellationError` if the task is cancelled while it waits.
    func perform<R>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
    ) async throws -> R {
        try await take()
        defer { giveBack() }
        return try await body()
    }

    private func take() async throws {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                wait(number, continuation)
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func wait(_ number: Int, _ continuation: CheckedContinuation<Void, any Error>) {
        let result: Result<Void, any Error>? = state.withLock { state in
            // Checked under the lock, so that the handler of a later cancellation finds the continuation.
            if Task.isCancelled { return .failure(CancellationError()) }
            if state.free > 0 {
                state.free -= 1
                return .success(())
            }
            state.waiting.append((number, continuation))
            return nil
        }
        if let result { continuation.resume(with: result) }
    }

    private func cancel(_ number: Int) {
        let found = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).continuation }
        }
        found?.resume(throwing: CancellationError())
    }

    private func giveBack() {
        let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume()
    }
}
