import CFuse
import Synchronization

/// A caller of poll(2). It is woken once, and then the kernel polls again.
final class PollWaiter: Sendable {
    /// The address of libfuse's handle; 0 once it has been taken.
    private let handle: Mutex<UInt>
    init(_ handle: OpaquePointer) { self.handle = Mutex(UInt(bitPattern: handle)) }

    func wake() {
        let taken = handle.withLock { handle in
            defer { handle = 0 }
            return handle
        }
        guard let poll = OpaquePointer(bitPattern: taken) else { return }
        fuse_lowlevel_notify_poll(poll)
        fuse_pollhandle_destroy(poll)
    }
    deinit {
        if let poll = OpaquePointer(bitPattern: handle.withLock { $0 }) { fuse_pollhandle_destroy(poll) }
    }
}
