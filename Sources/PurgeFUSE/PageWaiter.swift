import CFuseShims
import Glibc
import PurgeSystem
import PurgeTree
import PurgeVolume
import Synchronization

/// Waits until no page of a file is being read or written, and has the kernel drop them all: by opening the file through the
/// mount, where the answer says that no page may be kept.
///
/// The thread has no descriptors but those it opens itself. FUSE_NOTIFY_INVAL_INODE waits for pages too, but in a call on
/// /dev/fuse: if the daemon is killed then, that descriptor stays open, so the connection does not end, and with it the
/// requests that the call waits for.
final class PageWaiter: Sendable {
    private let queue = WorkQueue()
    private let threadID = Atomic<Int32>(0)
    /// How many calls of `wait` have given up what the thread has not finished yet.
    private let abandoned = Atomic<Int>(0)

    func start() throws(Errno) {
        try queue.start(name: "page waiter")
        queue.add { [self] in
            threadID.store(System.threadID(), ordering: .relaxed)
            do throws(Errno) { try System.leaveDescriptors() } catch {
                MountService.note("purgefs: warning: the page waiter shares the daemon's descriptors: \(error)")
            }
        }
    }

    func end() { queue.end() }

    /// Returns when each of the files has been opened, or could not be: it has been moved, or the daemon's user may not
    /// read it. To find a name the kernel may need the lock of its folder, which another call can hold for ever; so it also
    /// returns when a file takes too long, and at once as long as the thread is stuck there. `open` is called on the
    /// waiter's thread. Returns whether all of them have been opened.
    @discardableResult
    func wait(for paths: [[UInt8]], open: @escaping @Sendable ([UInt8]) throws(Errno) -> FileDescriptor?) -> Bool {
        guard abandoned.load(ordering: .sequentiallyConsistent) <= 0 else { return false }
        let work = AwaitedWork()
        let opened = Mutex(0)
        queue.add { [self] in
            for path in paths where !work.isAbandoned {
                do throws(Errno) {
                    if try open(path) != nil { opened.withLock { $0 += 1 } }
                } catch {}
                work.advance()
            }
            work.finish()
            if work.isAbandoned { abandoned.subtract(1, ordering: .sequentiallyConsistent) }
        }
        guard work.wait() else {
            abandoned.add(1, ordering: .sequentiallyConsistent)
            return false
        }
        return opened.withLock { $0 } == paths.count
    }

    /// Whether this is the thread that opens files only to have their pages dropped.
    func isOpening(by tid: pid_t) -> Bool { tid != 0 && tid == threadID.load(ordering: .relaxed) }

    /// FOPEN flags of the answer: no page is kept, and the way of the file's I/O stays as it is.
    static let openFlags = UInt32(SHIM_FOPEN_DIRECT_IO) | UInt32(SHIM_FOPEN_NOFLUSH)
}
