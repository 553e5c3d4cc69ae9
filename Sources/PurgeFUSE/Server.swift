import CFuse
import CFuseShims
import Glibc
import PurgeStore
import PurgeSystem
import PurgeTree
import PurgeVolume

/// The objects that the callbacks of one mount need; `of` finds them from a request.
final class Server: Sendable {
    let volume: Volume
    let kernel: Kernel
    let commands = WorkQueue()
    /// Whether the mount is read-only. The kernel then refuses all changes except by an ioctl.
    let isReadOnly: Bool
    let backings = BackingFiles()
    let streams = ParkedReads()
    let endingMark = EndingMark()
    let trace: Trace?
    let record: CallRecord?
    private let isWatched: Bool

    init(volume: Volume, kernel: Kernel, _ request: MountRequest) {
        self.volume = volume
        self.kernel = kernel
        isReadOnly = request.isReadOnly
        trace = request.trace
        record = request.record
        isWatched = trace != nil || record != nil
    }

    // Unmanaged: the session's userdata is the server, which is never released.
    static func of(_ request: fuse_req_t) -> Server {
        Unmanaged<Server>.fromOpaque(fuse_req_userdata(request)).takeUnretainedValue()
    }

    /// Returns the node for one of the kernel's nodeids: the address of the node, or 1 for the root.
    func node(_ id: fuse_ino_t) -> Node {
        guard id != FUSE_ROOT_ID, let pointer = UnsafeRawPointer(bitPattern: UInt(id)) else { return volume.root }
        // Unmanaged: a node lives for as long as the kernel has references to it (`NodeState.lookups`).
        return Unmanaged<Node>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Returns the path, relative to the container, of a node or of a name in it.
    func path(_ id: UInt64, _ name: String? = nil) -> String {
        volume.path(of: node(fuse_ino_t(id)), name)
    }

    /// Returns the object behind a handle of the kernel.
    // Unmanaged: the kernel uses a handle only until its RELEASE, and has a reference until then.
    static func object<Object: AnyObject>(_ handle: UInt64, _ type: Object.Type = Object.self) -> Object? {
        UnsafeRawPointer(bitPattern: UInt(handle)).map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Returns a new handle under which the kernel knows an open object.
    // Unmanaged: the kernel owns the reference, which `release` returns.
    static func retained<Object: AnyObject>(_ object: Object) -> UInt64 {
        UInt64(UInt(bitPattern: Unmanaged.passRetained(object).toOpaque()))
    }

    // Unmanaged: `retained` has taken the reference, and the kernel releases a handle once.
    static func release<Object: AnyObject>(_ object: Object) { Unmanaged.passUnretained(object).release() }
}

extension Server {
    /// Starts the trace and the record, before the first request is served.
    func startWatching() {
        guard isWatched else { return }
        shim_on_answer(
            { context, unique, error, body, size in
                guard let context else { return }
                // Unmanaged: the server is never released.
                let server = Unmanaged<Server>.fromOpaque(context).takeUnretainedValue()
                server.trace?.end(unique, error, body, size)
                server.record?.end(unique, error, body, size, server)
            },
            // Unmanaged: the server is never released.
            Unmanaged.passUnretained(self).toOpaque())
        if record != nil { volume.faultyCalls.watchReads() }
        trace?.start(volume)
    }
}

extension Server: RequestService {
    func prepareThread() { Volume.prepareWorkerThread() }

    /// Traces and records the request. If it is the RELEASE of a file, notes it, because a RELEASE counts from the moment it is read.
    @inline(__always)
    func note(_ request: RawRequest) {
        if isWatched { watch(request) }
        if request.opcode == .release { noteRelease(request) }
    }

    private func watch(_ request: RawRequest) {
        trace?.begin(request, self)
        record?.begin(request, self)
    }

    private func noteRelease(_ request: RawRequest) {
        guard !node(request.node).isControl, let handle = Self.object(request.firstWord, Handle.self) else { return }
        volume.noteRelease(handle)
    }

    func makeCall(onCPU number: UInt32) { kernel.makeCall(onCPU: number) }
    func report(_ failure: String) { MountService.note("purgefs: error: \(failure)") }
}
