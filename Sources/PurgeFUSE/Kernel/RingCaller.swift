import CFuseShims
import Glibc
import PurgeSystem
import Synchronization

/// Makes calls through the mount so that the kernel hands over what waits in a queue of io_uring.
///
/// A request that comes while no thread of its queue is idle stays in the kernel until one of the queue's requests is answered,
/// even if the queue gets another thread meanwhile. The call on the queue's CPU goes to the new thread, or, if another request
/// has been faster, waits behind the others; in both cases an answer of the new thread lets the kernel send the next request.
/// Each call has a thread of its own, because it may wait. The thread has no descriptors but the ones that it opens itself
/// (`Notifier`).
final class RingCaller: Sendable {
    private let threads = Mutex<[WorkThread]>([])
    private let calling = Mutex<Set<pid_t>>([])

    func makeCall(onCPU number: UInt32, through mount: OwnMount) {
        do throws(Errno) {
            let thread = try WorkThread(name: "ring caller") { [self] in
                do throws(Errno) { try System.leaveDescriptors() } catch { return }
                let tid = System.threadID()
                calling.withLock { _ = $0.insert(tid) }
                if ring_pin(number) == 0 { mount.ask() }
                calling.withLock { _ = $0.remove(tid) }
            }
            threads.withLock { $0.append(thread) }
        } catch {}  // the next request on that CPU does the same
    }

    /// Whether a call comes from a thread of this object.
    func isCalling(_ tid: pid_t) -> Bool { calling.withLock { $0.contains(tid) } }

    /// Waits until all calls have ended. Called when the connection has.
    func end() {
        for thread in threads.withLock({ $0 }) { thread.join() }
    }
}
