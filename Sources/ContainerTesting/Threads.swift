import Dispatch
import Foundation
import Synchronization

/// Runs blocking work outside the thread pool of Swift's concurrency, which has only one thread for each core.
enum Threads {
    static func run<R: Sendable>(_ work: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result(catching: work)) }
        }
    }

    static func run<R: Sendable>(_ work: @escaping @Sendable () -> R) async -> R {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: work()) }
        }
    }

    /// Performs `work` on a new thread, and returns its result; nil if the work takes longer than `limit`. Each time the limit
    /// passes, `isWorking` is called, and if it returns true, the wait is extended by another `limit`. After nil, the thread
    /// continues on its own.
    static func run<R: Sendable>(
        within limit: Duration, while isWorking: () -> Bool = { false }, _ work: @escaping @Sendable () -> R
    ) -> R? {
        let answer = Mutex<R?>(nil)
        let isAnswered = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let value = work()
            answer.withLock { $0 = value }
            isAnswered.signal()
        }
        while isAnswered.wait(timeout: .now() + limit / .seconds(1)) == .timedOut {
            guard isWorking() else { return nil }
        }
        return answer.withLock { $0 }
    }
}
