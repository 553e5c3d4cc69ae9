import Glibc
import PurgeSystem
import Support
import Synchronization
import Testing

/// Waits with a limit, in a thread that signals interrupt again and again.
struct InterruptedWaitTests {
    /// Runs `body` in a thread of its own, which gets signals at much shorter intervals than the wait.
    private func interrupted(_ body: @escaping @Sendable () throws -> Void) throws {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        sigaction(SIGURG, &action, nil)
        let isDone = Tally()
        let waiting = Mutex<pthread_t?>(nil)
        let thread = try WorkThread(name: "waiting") {
            waiting.withLock { $0 = pthread_self() }
            do { try body() } catch { Issue.record("\(error)") }
            isDone.add()
        }
        try eventually(within: 20, "an end of the wait") {
            // The thread exists until it is joined.
            if let thread = waiting.withLock({ $0 }) { pthread_kill(thread, SIGURG) }
            return isDone.value > 0
        }
        thread.join()
    }

    @Test func ofADescriptor() throws {
        let ends = try System.makeConnection()
        try interrupted {
            let isReadable = try System.waitReadable(ends.0.raw, milliseconds: 400)
            #expect(!isReadable)
        }
    }
}
