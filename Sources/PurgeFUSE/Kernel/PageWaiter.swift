import CFuseShims
import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree
import PurgeVolume
import Synchronization

/// Waits until no page of a file is being read or written, and has the kernel drop all pages of the file. It opens the file
/// through the mount, and the answer to OPEN says that no page may be kept.
///
/// The thread has no descriptors but the ones it opens itself. FUSE_NOTIFY_INVAL_INODE waits for pages too, but in a call on
/// /dev/fuse. If the daemon is killed during that call, the descriptor stays open. The connection then never ends, and neither
/// do the requests that the call waits for.
///
/// A file is opened by a name in the control directory that nobody else can look up. So it does not matter if the file has lost
/// its own names, or if programs hold the lock of its folder.
final class PageWaiter: Sendable {
    private let queue = WorkQueue()
    private let threadID = Atomic<Int32>(0)
    /// How many calls of `dropPages` have abandoned work that the thread has not finished yet.
    private let abandoned = Atomic<Int>(0)
    /// The files to open while a caller waits for them, each under a number that is used once. The thread has only the numbers:
    /// it must not release a node, which may own a descriptor of the process.
    private let files = Mutex(Files())
    /// The number of the file that the thread is opening; 0 if there is none.
    private let wanted = Atomic<UInt64>(0)

    private struct Files {
        var last: UInt64 = 0
        var numbered: [UInt64: Node] = [:]
    }

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

    /// Has the pages of each file dropped `times` times. Returns the files for which this failed, for example because the
    /// daemon's user may not read them. To look up a name, the kernel may need the lock of the container, which another call
    /// can hold forever. So the function gives up when a file takes too long, and while the thread is stuck, it returns all
    /// files at once. `open` is called on the waiter's thread with the path of a file in the mount.
    func dropPages(
        of nodes: [Node], times: Int, open: @escaping @Sendable ([UInt8]) throws(Errno) -> FileDescriptor?
    ) -> [Node] {
        guard abandoned.load(ordering: .sequentiallyConsistent) <= 0 else { return nodes }
        let numbers = files.withLock { files in
            nodes.map { node in
                files.last += 1
                files.numbered[files.last] = node
                return files.last
            }
        }
        defer { files.withLock { files in for number in numbers { files.numbered[number] = nil } } }
        let work = AwaitedWork()
        let opened = Mutex<Set<UInt64>>([])
        queue.add { [self] in
            for number in numbers where !work.isAbandoned {
                if openFile(number, times, open) { opened.withLock { _ = $0.insert(number) } }
                work.advance()
            }
            work.finish()
            if work.isAbandoned { abandoned.subtract(1, ordering: .sequentiallyConsistent) }
        }
        if !work.wait() { abandoned.add(1, ordering: .sequentiallyConsistent) }
        let done = opened.withLock { $0 }
        return zip(numbers, nodes).filter { !done.contains($0.0) }.map(\.1)
    }

    /// Returns whether the file has been opened `times` times.
    private func openFile(
        _ number: UInt64, _ times: Int, _ open: ([UInt8]) throws(Errno) -> FileDescriptor?
    ) -> Bool {
        let path = Array("\(ControlFile.directory)/\(number)".utf8)
        wanted.store(number, ordering: .sequentiallyConsistent)
        defer {
            wanted.store(0, ordering: .sequentiallyConsistent)
            // This lookup fails, so the kernel drops the name, and with it a reference to the file.
            do throws(Errno) { _ = try open(path) } catch {}
        }
        do throws(Errno) {
            for _ in 0..<times where try open(path) == nil { return false }
            return true
        } catch { return false }
    }

    /// Returns the file that the thread is opening, by the name that the thread looks up.
    func file(named name: CName) -> Node? {
        let number = wanted.load(ordering: .sequentiallyConsistent)
        guard number != 0, strcmp("\(number)", name) == 0 else { return nil }
        return files.withLock { $0.numbered[number] }
    }

    /// Whether `tid` is the thread that opens files only to have their pages dropped.
    func isWaiting(by tid: pid_t) -> Bool { tid != 0 && tid == threadID.load(ordering: .relaxed) }

    /// FOPEN flags of the answer to OPEN. FOPEN_KEEP_CACHE is missing, so the kernel drops all pages. FOPEN_DIRECT_IO does not
    /// change how other descriptors of the file do I/O.
    static let openFlags = UInt32(SHIM_FOPEN_DIRECT_IO) | UInt32(SHIM_FOPEN_NOFLUSH)
}
