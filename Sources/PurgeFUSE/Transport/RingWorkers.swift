import CFuseShims
import Glibc
import PurgeSystem
import Synchronization

/// Threads that receive requests by io_uring and serve them.
///
/// The kernel has a queue for each CPU, with the calls made there. Each queue has at least two threads on that CPU, and gets
/// another one when the last that waits has received a request.
final class RingWorkers<Service: RequestService>: Sendable {
    private final class Queue: Sendable {
        let number: UInt32
        /// Threads that wait for a request.
        let idle = Atomic<Int>(0)
        /// Threads that wait for another thread to answer their request.
        let waiting = Atomic<Int>(0)
        /// Threads that have not ended.
        let alive = Atomic<Int>(0)
        /// Whether a thread has been started that has not registered its ring yet.
        let isGrowing = Atomic<Bool>(false)
        let threads = Mutex<[WorkThread]>([])
        init(_ number: UInt32) { self.number = number }
    }

    private let service: Service
    private let queues: [Queue]
    private let channel = Mutex<Channel?>(nil)
    private static var firstThreads: Int { 2 }
    /// The maximum number of threads of a queue. Threads whose request another thread answers do not count.
    private static var limit: Int { 48 }
    private let beginning = Mutex<(left: Int, error: Errno?)>((0, nil))
    private let begun = Gate()

    /// Starts the threads. Throws ENOSYS if the kernel has no io_uring for FUSE, EOPNOTSUPP if it is switched off, and another
    /// error if a ring cannot be made.
    init(_ service: Service) throws(Errno) {
        let (count, probed) = (ring_queues(), ring_probe())
        if count < 0 || probed < 0 { throw Errno(-min(count, probed)) }
        self.service = service
        queues = (0..<UInt32(count)).map { Queue($0) }
        beginning.withLock { $0.left = queues.count * Self.firstThreads }
        for queue in queues {
            for _ in 0..<Self.firstThreads {
                do throws(Errno) { try add(to: queue, isFirst: true) } catch { tellBegun(error) }
            }
        }
        if let error = awaitRings() {
            join()
            throw error
        }
        ring_want()
    }

    /// Waits until each of the first threads has a ring, or has failed. Returns an error of one that has failed.
    private func awaitRings() -> Errno? {
        while true {
            let seen = begun.generation
            let (left, error) = beginning.withLock { $0 }
            if left == 0 { return error }
            begun.wait(while: seen)
        }
    }

    func serve(_ channel: Channel) { self.channel.withLock { $0 = channel } }

    /// Ends the threads. Requests that they have received and not answered are lost.
    func join() {
        ring_end()
        for queue in queues {
            while let thread = queue.threads.withLock({ $0.popLast() }) { thread.join() }
        }
    }

    private func add(to queue: Queue, isFirst: Bool) throws(Errno) {
        queue.alive.add(1, ordering: .relaxed)
        do throws(Errno) {
            let thread = try WorkThread(name: "ring \(queue.number)") { [self] in
                work(queue, isFirst: isFirst)
                queue.alive.subtract(1, ordering: .relaxed)
            }
            queue.threads.withLock { $0.append(thread) }
        } catch {
            queue.alive.subtract(1, ordering: .relaxed)
            throw error
        }
    }

    /// Adds a thread to a queue none of whose threads is idle, unless one is about to be. If that fails, the queue waits for
    /// one of its requests.
    private func grow(_ queue: Queue) {
        let count = queue.alive.load(ordering: .relaxed) - queue.waiting.load(ordering: .relaxed)
        guard count < Self.limit, !queue.isGrowing.exchange(true, ordering: .relaxed) else { return }
        do throws(Errno) { try add(to: queue, isFirst: false) } catch {
            queue.isGrowing.store(false, ordering: .relaxed)
        }
    }

    private func tellBegun(_ error: Errno?) {
        beginning.withLock {
            $0.left -= 1
            $0.error = $0.error ?? error
        }
        begun.advance()
    }

    private func work(_ queue: Queue, isFirst: Bool) {
        service.prepareThread()
        let ring = ring_new(queue.number)
        if isFirst { tellBegun(ring == nil ? Errno(errno) : nil) }
        let code = ring.map { ring_register($0) } ?? -ENOMEM
        if let ring, code == 0, let channel = channel.withLock({ $0 }) {
            queue.idle.add(1, ordering: .relaxed)
            endGrowth(of: queue, isFirst: isFirst)
            let (code, hasServed) = serve(queue, ring, channel)
            queue.idle.subtract(1, ordering: .relaxed)
            // The kernel may refuse the ring of a further thread for lack of memory.
            if code != -ENODEV, isFirst || hasServed { fail(Errno(-code)) }
        } else {
            endGrowth(of: queue, isFirst: isFirst)
            if isFirst, code != -ECANCELED, ring != nil { fail(Errno(-code)) }
        }
        if let ring { ring_close(ring) }
    }

    private func endGrowth(of queue: Queue, isFirst: Bool) {
        guard !isFirst else { return }
        queue.isGrowing.store(false, ordering: .relaxed)
        service.makeCall(onCPU: queue.number)
    }

    private func fail(_ error: Errno) {
        service.report("cannot receive requests by io_uring: \(error)")
        Channel.fail(error)
    }

    /// Serves until no more requests come. Returns the error with which receiving has ended, -ENODEV at the end of the mount, and
    /// whether there was a request.
    private func serve(
        _ queue: Queue, _ ring: OpaquePointer, _ channel: Channel
    ) -> (code: Int32, hasServed: Bool) {
        var hasServed = false
        while true {
            var start: UnsafeMutableRawPointer?
            let length = ring_receive(ring, &start)
            guard length > 0 else { return (Int32(length), hasServed) }
            hasServed = true
            let isLast = queue.idle.subtract(1, ordering: .relaxed).newValue == 0
            let buffer = UnsafeMutableRawBufferPointer(start: start, count: length)
            service.note(RawRequest(buffer))
            ring_noted(ring)
            if isLast { grow(queue) }
            channel.serve(buffer, length, service)
            if ring_awaits_answer(ring) != 0 {
                queue.waiting.add(1, ordering: .relaxed)
                ring_finish(ring)
                queue.waiting.subtract(1, ordering: .relaxed)
            }
            queue.idle.add(1, ordering: .relaxed)
        }
    }
}
