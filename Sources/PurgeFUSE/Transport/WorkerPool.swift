import Glibc
import PurgeSystem
import Synchronization

/// Leader and followers. One thread at a time reads requests and takes note of each. So when a request is served, every close
/// that was read before that request is known (docs/INTERNALS.md, The order of RELEASE).
///
/// The leader serves quick requests itself and keeps reading, which is fastest for one client. Before anything slow it hands
/// the lead to a follower. A watchman takes the lead from a leader that has been busy with one request for a few
/// milliseconds, and passes it to a follower.
final class WorkerPool: Sendable {
    /// The maximum number of threads, and so of slow requests at once.
    private let limit: Int
    private static let watchInterval: Int64 = 2

    private struct State {
        var idle = 0
        var threads: [WorkThread] = []
        var isEnding = false
    }
    private let state = Mutex(State())
    private let lead = Semaphore()
    private let watchGate = Gate()
    private let watchmanSleeps = Atomic<Bool>(false)
    /// The ticket of the quick request that the leader is serving; otherwise 0.
    private let serving = Atomic<UInt64>(0)
    /// The body of each worker thread.
    private let life: @Sendable (WorkerPool) -> Void

    init(source: some RequestSource, limit: Int = 48) {
        self.limit = limit
        life = { $0.work(source) }
    }

    /// Serves until the source ends.
    func run() throws(Errno) {
        let watchman = try WorkThread(name: "watchman") { [self] in watch() }
        try addWorker()
        lead.signal()
        var joined = 0
        while true {
            let thread = state.withLock { $0.threads.count > joined ? $0.threads[joined] : nil }
            guard let thread else { break }
            thread.join()
            joined += 1
        }
        watchGate.advance()
        watchman.join()
    }

    private func addWorker() throws(Errno) {
        let thread = try WorkThread(name: "worker") { [self] in life(self) }
        state.withLock { $0.threads.append(thread) }
    }

    /// Runs a worker thread. The thread waits for the lead, and reads and serves requests until it has lost the lead. It
    /// finishes the request that it is serving, and waits again.
    private func work(_ source: some RequestSource) {
        source.prepareThread()
        guard let buffer = source.makeBuffer() else { return }
        defer { buffer.deallocate() }
        let worker = Worker(pool: self)
        Worker.setCurrent(worker)
        defer { Worker.setCurrent(nil) }
        while becomeLeader() {
            worker.leads = true
            while worker.leads {
                guard let length = source.receive(into: buffer) else { return end() }
                if length == 0 { continue }
                worker.number = worker.number &+ 1
                let number = worker.ticket
                if source.isSlow(buffer, length) {
                    worker.handOver()
                    source.serve(buffer, length)
                    break
                }
                worker.isWatched = true
                // The store and the load must be in one total order; otherwise each thread could miss what the other has just
                // stored.
                serving.store(number, ordering: .sequentiallyConsistent)
                if watchmanSleeps.load(ordering: .sequentiallyConsistent) { wakeWatchman() }
                source.serve(buffer, length)
                if worker.leads { worker.leads = endWatch(number) }
                worker.isWatched = false
            }
        }
    }

    /// Waits for the lead. Returns false when the pool ends.
    private func becomeLeader() -> Bool {
        let mustEnd = state.withLock { state in
            state.idle += 1
            return state.isEnding
        }
        if mustEnd { return false }
        lead.wait()
        return state.withLock { state in
            state.idle -= 1
            return !state.isEnding
        }
    }

    /// Gives the lead to an idle worker. Adds a worker if none is idle and the limit allows it.
    fileprivate func passLead() {
        let mustAdd = state.withLock { $0.idle == 0 && $0.threads.count < limit && !$0.isEnding }
        if mustAdd {
            // If no thread can be created, the first worker to become idle takes the lead.
            do { try addWorker() } catch {}
        }
        lead.signal()
    }

    /// Ends the watch over the request with this ticket. Returns false if the watchman has already given the lead to another
    /// thread.
    fileprivate func endWatch(_ number: UInt64) -> Bool {
        serving.compareExchange(expected: number, desired: 0, ordering: .acquiringAndReleasing).exchanged
    }

    private func end() {
        let count = state.withLock { state in
            state.isEnding = true
            return state.threads.count
        }
        for _ in 0..<count { lead.signal() }
        watchGate.advance()
    }

    private func wakeWatchman() {
        if watchmanSleeps.exchange(false, ordering: .acquiringAndReleasing) { watchGate.advance() }
    }

    /// Sleeps while nothing happens; otherwise checks every few milliseconds whether the leader is stuck in one request.
    private func watch() {
        var last: UInt64 = 0
        var quiet = 0
        while true {
            let seen = watchGate.generation
            if state.withLock({ $0.isEnding }) { return }
            let now = serving.load(ordering: .acquiring)
            if now != 0 && now == last {
                let (won, _) = serving.compareExchange(expected: now, desired: 0, ordering: .acquiringAndReleasing)
                if won { passLead() }
            }
            quiet = now == 0 || now == last ? quiet + 1 : 0
            last = now
            if quiet > 100 {
                watchmanSleeps.store(true, ordering: .sequentiallyConsistent)
                if serving.load(ordering: .sequentiallyConsistent) == 0 { watchGate.wait(while: seen) }
                watchmanSleeps.store(false, ordering: .releasing)
                quiet = 0
            } else {
                watchGate.wait(while: seen, milliseconds: Self.watchInterval)
            }
        }
    }
}

/// The state of a worker thread, reachable from everything that it calls.
final class Worker {
    private let pool: WorkerPool
    fileprivate var leads = false
    /// Whether the watchman may take the lead from this thread.
    fileprivate var isWatched = false
    fileprivate var number: UInt64 = 0
    fileprivate let seed = UInt64.random(in: 1..<1 << 20) << 40
    fileprivate var ticket: UInt64 { seed | (number & (1 << 40 - 1)) }

    init(pool: WorkerPool) { self.pool = pool }

    /// Lets another thread read requests if this one has the lead.
    func handOver() {
        guard leads else { return }
        leads = false
        if !isWatched || pool.endWatch(ticket) { pool.passLead() }
    }

    /// Hands over the lead before slow code; does nothing on threads that do not serve requests.
    static func willBeSlow() {
        guard let pointer = current.pointer else { return }
        // Unmanaged: `work` keeps the worker until it has cleared the pointer.
        Unmanaged<Worker>.fromOpaque(pointer).takeUnretainedValue().handOver()
    }

    fileprivate static func setCurrent(_ worker: Worker?) {
        // Unmanaged: no reference is taken; `work` keeps the worker until it has cleared the pointer.
        current.pointer = worker.map { Unmanaged.passUnretained($0).toOpaque() }
    }

    private static let current = ThreadLocal()
}

/// A source of requests, which also serves them; the pool does not know their format.
protocol RequestSource: Sendable {
    func prepareThread()
    func makeBuffer() -> UnsafeMutableRawBufferPointer?
    /// Receives one request, takes note of it and returns its length; 0 to try again, nil at the end.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int?
    /// Whether a request of this kind and size may take long.
    func isSlow(_ buffer: UnsafeMutableRawBufferPointer, _ length: Int) -> Bool
    func serve(_ buffer: UnsafeMutableRawBufferPointer, _ length: Int)
}
