import Dispatch
import Foundation
import Synchronization

/// What waits for other processes runs on threads outside the pool of Swift's concurrency, which has one for each core.
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

    /// Nil if `work` takes longer than `limit`; its thread then goes on by itself. `isWorking` is asked each time that the time is
    /// over, and as long as it says so, this waits on.
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
