import CFuse
import CFuseShims
import Glibc
import PurgeSystem
import PurgeTree
import PurgeVolume

/// What the callbacks of one mount need; `of` gets it from a request.
final class Server: Sendable {
    let volume: Volume
    let notifier: Notifier
    let commands: WorkQueue
    let backings: BackingFiles
    let streams = ParkedReads()
    let retries: Retries

    init(volume: Volume, notifier: Notifier, commands: WorkQueue) {
        self.volume = volume
        self.notifier = notifier
        self.commands = commands
        backings = BackingFiles()
        retries = Retries(volume: volume)
    }

    static func of(_ request: fuse_req_t) -> Server {
        Unmanaged<Server>.fromOpaque(fuse_req_userdata(request)).takeUnretainedValue()
    }

    /// The kernel's nodeid is the node's address; the root's is 1.
    func node(_ id: fuse_ino_t) -> Node {
        guard id != FUSE_ROOT_ID, let pointer = UnsafeRawPointer(bitPattern: UInt(id)) else { return volume.root }
        return Unmanaged<Node>.fromOpaque(pointer).takeUnretainedValue()
    }

    func caller(_ request: fuse_req_t) -> Caller {
        let context = fuse_req_ctx(request).pointee
        return Caller(owner: context.uid, group: context.gid, pid: context.pid, umask: context.umask)
    }

    /// The object behind a handle of the kernel.
    static func object<Object: AnyObject>(_ handle: UInt64, _ type: Object.Type = Object.self) -> Object? {
        UnsafeRawPointer(bitPattern: UInt(handle)).map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
    }
}
