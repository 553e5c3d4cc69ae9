import CFuse
import CFuseShims
import Glibc
import PurgeStore
import PurgeSystem
import PurgeVolume
import Synchronization

/// What the callbacks of one mount need: reached from a request by `of`.
final class Server: Sendable {
    let volume: Volume
    let notifier: Notifier
    let commands: WorkQueue
    let backings: BackingFiles
    let streams = ParkedReads()
    /// When a thread was last answered ESTALE, by its id.
    private let staleAnswers = Mutex<[pid_t: Int64]>([:])
    /// 5 ms: the second attempt of the kernel comes at once.
    private static let staleRetryTime: Int64 = 5_000_000

    init(volume: Volume, notifier: Notifier, commands: WorkQueue) {
        self.volume = volume
        self.notifier = notifier
        self.commands = commands
        backings = BackingFiles()
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

    /// ESTALE makes the kernel look the name up anew, once; a second time it would reach the app,
    /// which no local file system does to it. Then the file is simply not there.
    /// An OPEN may be one that makes the file (the kernel does not say), so it stays ESTALE.
    func answerToStale(_ request: fuse_req_t) -> Errno {
        if RawRequest.current.opcode == .open { return .stale }
        let thread = fuse_req_ctx(request).pointee.pid
        let now = System.now()
        return staleAnswers.withLock { answers in
            if let last = answers[thread], now - last < Self.staleRetryTime {
                answers[thread] = nil
                return .noEntry
            }
            if answers.count > 256 { answers = answers.filter { now - $0.value < Self.staleRetryTime } }
            answers[thread] = now
            return .stale
        }
    }

    /// The object that a handle of the kernel stands for.
    static func object<Object: AnyObject>(_ handle: UInt64, _ type: Object.Type = Object.self) -> Object? {
        UnsafeRawPointer(bitPattern: UInt(handle)).map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
    }
}
