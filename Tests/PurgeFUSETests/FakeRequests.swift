import Glibc
import PurgeSystem
import Support
import Synchronization

@testable import PurgeFUSE

/// A source of numbered requests for a pool, which records how often each one was served.
final class FakeRequests: RequestSource {
    /// The work of serving a request.
    typealias Service = @Sendable (Int) -> Void

    private struct State {
        var waiting: [Int] = []
        var isEnded = false
        var readers = 0
        var mostReaders = 0
        var read: [Int] = []
        var served: [Int: Int] = [:]
        var threads: Set<Int32> = []
    }
    private let state = Mutex(State())
    private let arrival = Gate()
    private let slow: @Sendable (Int) -> Bool
    private let service: Service

    init(slow: @escaping @Sendable (Int) -> Bool = { _ in false }, service: @escaping Service = { _ in }) {
        self.slow = slow
        self.service = service
    }

    func send(_ requests: some Sequence<Int>) {
        state.withLock { $0.waiting += Array(requests) }
        arrival.advance()
    }
    func end() {
        state.withLock { $0.isEnded = true }
        arrival.advance()
    }

    var read: [Int] { state.withLock { $0.read } }
    /// The number of times each request was served.
    var served: [Int: Int] { state.withLock { $0.served } }
    var mostReaders: Int { state.withLock { $0.mostReaders } }
    var threads: Int { state.withLock { $0.threads.count } }

    func prepareThread() { state.withLock { _ = $0.threads.insert(System.threadID()) } }
    func makeBuffer() -> UnsafeMutableRawBufferPointer? { .allocate(byteCount: 16, alignment: 8) }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        state.withLock { state in
            state.readers += 1
            state.mostReaders = max(state.mostReaders, state.readers)
        }
        defer { state.withLock { $0.readers -= 1 } }
        while true {
            let seen = arrival.generation
            let (number, isEnded) = state.withLock { state -> (Int?, Bool) in
                guard !state.waiting.isEmpty else { return (nil, state.isEnded) }
                let number = state.waiting.removeFirst()
                state.read.append(number)
                return (number, false)
            }
            if let number {
                buffer.storeBytes(of: number, as: Int.self)
                // A negative number stands for an interrupted read, without a request.
                if number < 0 { return 0 }
                return 8
            }
            if isEnded { return nil }
            arrival.wait(while: seen)
        }
    }

    func isSlow(_ buffer: UnsafeMutableRawBufferPointer, _ length: Int) -> Bool { slow(buffer.load(as: Int.self)) }

    func serve(_ buffer: UnsafeMutableRawBufferPointer, _ length: Int) {
        let number = buffer.load(as: Int.self)
        service(number)
        state.withLock { $0.served[number, default: 0] += 1 }
    }
}

/// A pool that serves the requests on its own thread.
final class ServingPool: Sendable {
    let requests: FakeRequests
    private let serving: Workers.Group

    init(_ requests: FakeRequests) {
        self.requests = requests
        let pool = WorkerPool(source: requests)
        serving = Workers.start(1) { _ in try pool.run() }
    }
    /// Ends the source and waits for the end of the pool.
    func end() throws {
        requests.end()
        try serving.join(within: 20)
    }
}
