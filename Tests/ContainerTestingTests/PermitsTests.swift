import Foundation
import Synchronization
import Testing

@testable import ContainerTesting

@Suite struct PermitsTests {
    @Test func counts() {
        #expect(Permits.count(descriptors: 1024) == 96)
        #expect(Permits.count(descriptors: 1 << 20) == 100)
        #expect(Permits.count(descriptors: 128) == 12)
        #expect(Permits.count(descriptors: 3) == 1)
    }

    private final class Counts: Sendable {
        private let state = Mutex((now: 0, most: 0, all: 0))

        func begin() { state.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.all + 1) } }
        func end() { state.withLock { $0.now -= 1 } }
        var all: [Int] { state.withLock { [$0.now, $0.most, $0.all] } }
    }

    @Test func notMoreAtOnce() async throws {
        let permits = Permits(3)
        let counts = Counts()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await permits.perform {
                        counts.begin()
                        await Task.yield()
                        counts.end()
                    }
                }
            }
            try await group.waitForAll()
        }
        let all = counts.all
        #expect(all[0] == 0 && (1...3).contains(all[1]) && all[2] == 100)
    }

    /// A waiter that is cancelled takes no permit, and nobody else loses a turn.
    @Test func cancelled() async throws {
        let permits = Permits(1)
        try await permits.perform {
            let waiting = Task { try await permits.perform {} }
            let other = Task { try await permits.perform { 1 } }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            other.cancel()
            await #expect(throws: CancellationError.self) { try await other.value }
        }
        #expect(try await permits.perform { 2 } == 2)
    }
}
