import CFuse
import CFuseShims
import Glibc
import PurgeSystem
import PurgeVolume

/// Requests of the kernel, as they come from its channel.
final class KernelRequests: RequestSource, @unchecked Sendable {
    // @unchecked: only the leader uses `failures`; the rest is not changed.
    private let channel: Channel
    private let server: Server
    /// How many reads have failed in a row.
    private var failures = 0
    /// Two seconds until the mount ends because of them.
    private static let maximumFailures = 200

    /// The most bytes that one WRITE carries.
    static let maxWrite: UInt32 = 512 << 10
    /// libfuse's own, which is the least that the kernel accepts.
    private static let bufferSize = (1 << 20) + 4096
    private static let headerSize = 40
    /// fuse_in_header and fuse_write_in.
    private static let writeHeaderSize = 80
    private static let pageSize = 4096
    /// Copying this much takes longer than waking another reader.
    private static let largeData = 128 << 10

    init(channel: Channel, server: Server) {
        self.channel = channel
        self.server = server
    }

    func prepareThread() { Volume.prepareWorkerThread() }

    func makeBuffer() -> UnsafeMutableRawBufferPointer? {
        .allocate(byteCount: Self.pageSize + Self.bufferSize, alignment: Self.pageSize)
    }

    /// Requests are placed so that the data of a WRITE begins at a page: then each page is copied in one piece, into the
    /// buffer and from there into the file.
    private func request(in buffer: UnsafeMutableRawBufferPointer) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: buffer[(Self.pageSize - Self.writeHeaderSize)...])
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let buffer = request(in: buffer)
        do throws(Errno) {
            let count = try channel.receive(into: buffer)
            guard count >= Self.headerSize else { throw .ioError }
            failures = 0
            note(buffer, count)
            return count
        } catch {
            switch error {
            case .interrupted, .tryAgain, .noEntry: return 0  // ENOENT: the caller was interrupted first
            case .noDevice, .connectionAbort: return nil  // unmounted; aborted
            default: return retry(after: error)
            }
        }
    }

    /// The mount still exists, and programs in it wait. Returns 0 to try again, nil if that has not helped.
    private func retry(after error: Errno) -> Int? {
        if failures == 0 { MountService.note("purgefs: error: cannot read from the kernel: \(error); trying again") }
        failures += 1
        guard failures > Self.maximumFailures else {
            usleep(10_000)
            return 0
        }
        Channel.fail(error)
        return nil
    }

    /// A RELEASE counts from the moment it is read.
    private func note(_ buffer: UnsafeMutableRawBufferPointer, _ length: Int) {
        let request = RawRequest(buffer)
        guard request.opcode == .release, length >= Self.headerSize + 8, !server.node(request.node).isControl,
            let handle = Server.object(request.firstWord, Handle.self)
        else { return }
        server.volume.noteRelease(handle)
    }

    func isSlow(_ buffer: UnsafeMutableRawBufferPointer, _ length: Int) -> Bool {
        let request = RawRequest(request(in: buffer))
        switch request.opcode {
        case .fsync, .fsyncdir, .fallocate, .copyFileRange, .syncfs: return true
        case .write: return length > Self.largeData
        case .read: return request.readSize > Self.largeData
        default: return false
        }
    }

    func serve(_ buffer: UnsafeMutableRawBufferPointer, _ length: Int) {
        channel.process(request(in: buffer), length)
    }
}

/// The parts of a request that libfuse does not pass on.
struct RawRequest {
    enum Opcode: UInt32 {
        case lookup = 1
        case getattr = 3
        case readlink = 5
        case read = 15
        case write = 16
        case release = 18
        case fsync = 20
        case getxattr = 22
        case releaseDirectory = 29
        case fsyncdir = 30
        case fallocate = 43
        case copyFileRange = 47
        case syncfs = 50
        case temporary = 51
        case statx = 52
    }

    private let base: UnsafeRawPointer?
    /// As the kernel has sent it.
    let opcode: Opcode?

    init(_ buffer: UnsafeMutableRawBufferPointer) {
        base = UnsafeRawPointer(buffer.baseAddress)
        opcode = Opcode(rawValue: buffer.load(fromByteOffset: 4, as: UInt32.self))
    }

    private func word<Value: FixedWidthInteger>(_ offset: Int, _ type: Value.Type = Value.self) -> Value {
        base?.load(fromByteOffset: offset, as: type) ?? 0
    }

    var node: fuse_ino_t { fuse_ino_t(word(16, UInt64.self)) }
    /// The calling thread; 0 if it is in another PID namespace.
    var thread: pid_t { pid_t(bitPattern: word(32, UInt32.self)) }
    /// The thread whose call on a path ends with it. 0 for a request that can come before the main one: on the way to the
    /// file, for a question of the kernel's own (the capabilities of a file that is about to be truncated), or
    /// without the thread waiting for it.
    var call: pid_t {
        switch opcode {
        case .lookup, .getattr, .statx, .getxattr, .readlink, .read, .release, .releaseDirectory: 0
        default: thread
        }
    }
    /// The fh of a request that begins with one.
    var firstWord: UInt64 { word(40) }
    /// fuse_read_in.size
    var readSize: Int { Int(word(56, UInt32.self)) }
    /// FUSE_WRITE_KILL_SUIDGID of fuse_write_in.write_flags
    var writeDropsPrivileges: Bool { word(60, UInt32.self) & 4 != 0 }
    /// FUSE_OPEN_KILL_SUIDGID of fuse_open_in.open_flags
    var openDropsPrivileges: Bool { word(44, UInt32.self) & 1 != 0 }
    /// FATTR_KILL_SUIDGID of fuse_setattr_in.valid
    var changeDropsPrivileges: Bool { word(40, UInt32.self) & (1 << 11) != 0 }

    /// The name of a FUSE_TMPFILE has no meaning; libfuse calls the callback of FUSE_CREATE.
    var isTemporary: Bool { opcode == .temporary }
    /// libfuse calls the callback of FUSE_GETATTR.
    var isStatx: Bool { opcode == .statx }

    /// The request that this thread serves.
    static var current: RawRequest { RawRequest(served: shim_served()) }

    private init(served: shim_request) {
        base = served.bytes
        opcode = Opcode(rawValue: served.opcode)
    }
}
