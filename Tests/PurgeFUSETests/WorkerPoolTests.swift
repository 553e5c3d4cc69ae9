import PurgeSystem
import Support
import Synchronization
import Testing

@testable import PurgeFUSE

/// Leader and followers, with plain numbers as requests.
@Suite(.timeLimit(.minutes(1)))
struct WorkerPoolTests {
    /// Holds requests until the test releases them.
    final class Barrier: Sendable {
        private let isOpen = Mutex(false)
        private let gate = Gate()
        let inside = Tally()

        func pass() {
            inside.add()
            while true {
                let seen = gate.generation
                if isOpen.withLock({ $0 }) { return }
                gate.wait(while: seen)
            }
        }
        func open() {
            isOpen.withLock { $0 = true }
            gate.advance()
        }
    }

    private func expectOnceEach(
        _ requests: FakeRequests, _ range: Range<Int>, _ location: SourceLocation = #_sourceLocation
    ) {
        let wrong = requests.served.filter { $0.value != 1 }
        #expect(wrong.isEmpty, sourceLocation: location)
        #expect(Set(requests.served.keys) == Set(range), sourceLocation: location)
    }

    @Test func quickRequestsAreServedByOneThreadInTheirOrder() throws {
        let order = Mutex<[Int]>([])
        let requests = FakeRequests(service: { number in order.withLock { $0.append(number) } })
        let pool = ServingPool(requests)
        requests.send(0..<5000)
        try pool.end()
        expectOnceEach(requests, 0..<5000)
        #expect(requests.mostReaders == 1)
        // On a slow machine the watchman may have taken the lead, so only the count is certain.
        #expect(order.withLock { $0.count } == 5000)
    }

    /// With quick, slow and interrupted requests, none is lost or served twice, and two threads never read at once. Some requests
    /// are slow by kind, others turn out to be slow.
    @Test(arguments: 1...4) func everyRequestIsServedOnce(seed: Int) throws {
        let requests = FakeRequests(
            slow: { $0 % 7 == seed }, service: { if $0 % 5 == seed % 5 { Worker.willBeSlow() } })
        let pool = ServingPool(requests)
        for start in stride(from: 0, to: 20000, by: 100) {
            requests.send(start..<start + 100)
            requests.send([-1])
        }
        try pool.end()
        expectOnceEach(requests, 0..<20000)
        #expect(requests.mostReaders == 1)
        #expect(requests.threads <= 48)
    }

    @Test(arguments: [true, false]) func slowRequestsDoNotStopOthers(byKind: Bool) throws {
        let barrier = Barrier()
        let requests = FakeRequests(
            slow: { byKind && $0 < 20 },
            service: { number in
                guard number < 20 else { return }
                Worker.willBeSlow()
                Worker.willBeSlow()  // a repeated call has no effect
                barrier.pass()
            })
        let pool = ServingPool(requests)
        requests.send(0..<1000)
        try eventually("all but the slow ones") { requests.served.count == 980 }
        #expect(barrier.inside.value == 20)
        #expect(requests.mostReaders == 1)
        barrier.open()
        try pool.end()
        expectOnceEach(requests, 0..<1000)
    }

    /// The watchman takes the lead from a leader that hangs in a quick request.
    @Test func theWatchmanTakesTheLead() throws {
        let barrier = Barrier()
        let requests = FakeRequests(service: { if $0 < 5 { barrier.pass() } })
        let pool = ServingPool(requests)
        requests.send(0..<100)
        try eventually("the others") { requests.served.count == 95 }
        #expect(requests.mostReaders == 1)
        barrier.open()
        try pool.end()
        expectOnceEach(requests, 0..<100)
    }

    /// After a quiet time, the watchman has gone to sleep and must be woken.
    @Test func theWatchmanWakesUp() throws {
        let barrier = Barrier()
        let requests = FakeRequests(service: { if $0 == 1 { barrier.pass() } })
        let pool = ServingPool(requests)
        let quiet = Deadline(seconds: 0.6)
        try eventually("the end of the quiet time") { quiet.hasPassed }
        requests.send(0..<3)
        try eventually("the last") { requests.served[2] == 1 }
        barrier.open()
        try pool.end()
        expectOnceEach(requests, 0..<3)
    }

    /// Requests beyond the thread limit wait, and none is lost.
    @Test func moreSlowOnesThanThreads() throws {
        let barrier = Barrier()
        let requests = FakeRequests(slow: { _ in true }, service: { _ in barrier.pass() })
        let pool = ServingPool(requests)
        requests.send(0..<100)
        try eventually("all threads") { barrier.inside.value == 48 }
        #expect(requests.read.count == 48)
        barrier.open()
        try pool.end()
        expectOnceEach(requests, 0..<100)
        #expect(requests.threads == 48)
    }

    @Test func endsWithoutARequest() throws {
        let requests = FakeRequests()
        try ServingPool(requests).end()
        #expect(requests.served.isEmpty)
    }

    /// `run` returns only after the requests in flight are finished.
    @Test func endsOnceTheLastIsServed() throws {
        let barrier = Barrier()
        let requests = FakeRequests(slow: { _ in true }, service: { _ in barrier.pass() })
        let pool = ServingPool(requests)
        requests.send(0..<3)
        try eventually("all three") { barrier.inside.value == 3 }
        requests.end()
        #expect(requests.served.isEmpty)
        barrier.open()
        try pool.end()
        expectOnceEach(requests, 0..<3)
    }

    @Test func threadsThatServeNothingMayCallItToo() { Worker.willBeSlow() }
}
