import CFuse
import Glibc
import PurgeSystem
import Synchronization

/// Access to our mount for the daemon's own threads.
final class OwnMount: Sendable {
    let path: String
    private struct Begun {
        /// The address of libfuse's session.
        var session: UInt
        /// Distinguishes our mount from the directory under it.
        var device: Int64
    }
    /// nil before there is a mount.
    private let begun = Mutex<Begun?>(nil)

    init(path: String) { self.path = path }

    func begin(session: OpaquePointer) throws(Errno) {
        let device = try System.device(at: AT_FDCWD, path)
        begun.withLock { $0 = Begun(session: UInt(bitPattern: session), device: device) }
    }

    var hasBegun: Bool { begun.withLock { $0 != nil } }

    /// Makes the kernel revalidate a node's attributes before it uses one of the node's names. Takes no lock of a file or
    /// directory.
    func forgetAttributes(of node: UInt64) { invalidate(node, from: -1) }

    /// Drops the pages of a file, or the listing of a directory. Waits for pages that are being read or written.
    func dropPages(of node: UInt64) { invalidate(node, from: 0) }

    private func invalidate(_ node: UInt64, from offset: off_t) {
        guard let session = OpaquePointer(bitPattern: begun.withLock { $0?.session ?? 0 }) else { return }
        fuse_lowlevel_notify_inval_inode(session, fuse_ino_t(node), offset, 0)
    }

    /// Makes a call that the kernel passes on to us each time, and for which it takes no lock: statvfs(2).
    func ask() {
        do throws(Errno) {
            if let root = try open([], System.openPath | O_DIRECTORY) { _ = try System.fileSystemStatus(root.raw) }
        } catch {}  // the mount is gone
    }

    /// Opens a path in the mount. Returns nil if our mount does not exist yet or is gone, because the path would then lead to
    /// the directory under the mount. Mounts inside ours are not entered, since they may never answer.
    func open(_ path: [UInt8], _ flags: Int32) throws(Errno) -> FileDescriptor? {
        let root = try FileDescriptor.open(self.path, System.openPath | O_DIRECTORY)
        guard try System.device(at: root.raw, "") == begun.withLock({ $0?.device }) else { return nil }
        if path.isEmpty { return root }
        let name = path.map { CChar(bitPattern: $0) } + [0]
        return try FileDescriptor(adopting: System.openInMount(root.raw, name, flags | O_CLOEXEC))
    }
}
