import CFuse
import CFuseShims
import PurgeSystem
import PurgeVolume
import Synchronization

/// Backing files that the kernel reads or maps without the daemon. Each inode has one id for as long as any of its descriptors
/// is passed through (docs/INTERNALS.md, Passthrough).
final class BackingFiles: Sendable {
    private struct Backing {
        var id: Int32
        var opens: Int
    }
    // Held across the ioctl, which does no I/O, so that two first openers cannot register the file twice.
    private let backings = Mutex<[UInt64: Backing]>([:])

    /// Ids that are no longer in use. They are closed at the next release that has a request.
    private let unclosed = Mutex<[Int32]>([])

    /// Returns the inode's id for one more descriptor, or nil if the kernel refuses (EPERM without CAP_SYS_ADMIN).
    func acquire(_ handle: Handle, _ request: fuse_req_t) -> Int32? {
        backings.withLock { backings in
            if var known = backings[handle.node.address] {
                known.opens += 1
                backings[handle.node.address] = known
                return known.id
            }
            let id = shim_backing_open(request, handle.descriptor)
            guard id > 0 else { return nil }
            backings[handle.node.address] = Backing(id: id, opens: 1)
            return id
        }
    }

    /// Releases one descriptor of the inode.
    ///
    /// - Parameter request: a request that is not answered yet. nil after an answer that the kernel did not accept. An id that
    ///   is then no longer in use is closed at the next release that has a request.
    func release(_ handle: Handle, _ request: fuse_req_t?) {
        let last = backings.withLock { backings -> Int32? in
            guard var known = backings[handle.node.address] else { return nil }
            known.opens -= 1
            backings[handle.node.address] = known.opens > 0 ? known : nil
            return known.opens == 0 ? known.id : nil
        }
        let ended = unclosed.withLock { unclosed -> [Int32] in
            if let last { unclosed.append(last) }
            guard request != nil else { return [] }
            defer { unclosed = [] }
            return unclosed
        }
        if let request { for id in ended { _ = shim_backing_close(request, id) } }
    }
}
