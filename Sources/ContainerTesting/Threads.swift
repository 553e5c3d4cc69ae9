import Dispatch
import Foundation
import Synchronization

/// Runs work that waits for other processes outside the pool of Swift's concurrency, which has one thread for each core.
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

    /// Returns the result of `work`, or nil if that takes longer than `limit`; its thread then continues alone. Each time the
    /// limit passes, this waits on as long as `isWorking` returns true.
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
