import CFuse
import Glibc
import PurgeSystem
import PurgeVolume
import Synchronization

/// Tells the kernel of purged names, from a thread of its own: never from a request's, which
/// would wait for a lock that the kernel holds for that very request (FUSE.md).
final class Notifier: Sendable {
    private let queue = WorkQueue()
    private let mountpoint: String
    private let session = Mutex<UInt>(0)
    /// Of our mount, to tell it from what lies under it.
    private let device = Mutex<Int64>(0)
    private let announcerID = Atomic<Int32>(0)

    init(mountpoint: String) { self.mountpoint = mountpoint }

    func start() throws(Errno) {
        try queue.start(name: "notifier")
        queue.add { [self] in announcerID.store(System.threadID(), ordering: .sequentiallyConsistent) }
    }

    /// From now on there is a mount to tell.
    func begin(session: OpaquePointer) throws(Errno) {
        let device = try mountpoint.withCString { path in
            Result { () throws(Errno) in try System.device(at: AT_FDCWD, path) }
        }.get()
        self.session.withLock { $0 = UInt(bitPattern: session) }
        self.device.withLock { $0 = device }
    }

    func end() { queue.end() }

    /// The thread that unlinks through the mount.
    var announcer: pid_t { announcerID.load(ordering: .relaxed) }

    /// A copy reads its source, which the kernel does not know to have moved atime. Attributes
    /// alone, so that nothing waits for a lock of the kernel's: any thread may call this.
    func forgetAttributes(of node: Node) {
        guard let session = OpaquePointer(bitPattern: session.withLock { $0 }) else { return }
        fuse_lowlevel_notify_inval_inode(session, fuse_ino_t(node.address), -1, 0)
    }

    func announce(_ removals: [Removal], _ then: @escaping @Sendable () -> Void) {
        queue.add { [self] in
            var directory = OpenDirectory()
            for removal in removals where removal.concernsKernel { tell(removal, &directory) }
            then()
        }
    }

    /// The directory of the last removal: the next is often in the same.
    private struct OpenDirectory {
        var path: [CChar] = []
        var descriptor: FileDescriptor?
    }

    /// unlink(2) through the mount wakes watchers and drops the name. Where it may not (a directory
    /// that the daemon's user cannot write) the kernel is told to forget the name.
    private func tell(_ removal: Removal, _ directory: inout OpenDirectory) {
        guard let session = OpaquePointer(bitPattern: session.withLock { $0 }) else { return }
        do throws(Errno) {
            try removal.withName { (name) throws(Errno) in
                if unlink(name, of: removal, &directory) { return }
                _ = fuse_lowlevel_notify_delete(
                    session, fuse_ino_t(removal.directoryID), fuse_ino_t(removal.node.address), name, strlen(name))
            }
        } catch {}
    }

    /// Whether the name is surely gone for the kernel: not when its directory has been moved since.
    /// Only inside our own mount: were it unmounted meanwhile, the path would lead to what lies under it.
    private func unlink(_ name: CName, of removal: Removal, _ directory: inout OpenDirectory) -> Bool {
        let path =
            (Array(mountpoint.utf8) + [UInt8(ascii: "/")] + removal.directoryPath + [0]).map { CChar(bitPattern: $0) }
        do throws(Errno) {
            if directory.path != path {
                directory = OpenDirectory()
                let raw = try path.withUnsafeBufferPointer { path in
                    Result { () throws(Errno) in
                        guard let base = path.baseAddress else { throw Errno.noEntry }
                        return try System.open(at: AT_FDCWD, base, System.openPath | O_DIRECTORY | O_CLOEXEC)
                    }
                }.get()
                directory.descriptor = FileDescriptor(adopting: raw)
                directory.path = path
            }
            guard let descriptor = directory.descriptor else { return false }
            guard try System.device(at: descriptor.raw, "") == device.withLock({ $0 }) else { return true }
            try System.unlink(at: descriptor.raw, name)
            return true
        } catch { return false }
    }
}
