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
        let buffer = request(in: buffer)
        let request = RawRequest(buffer)
        switch request.opcode {
        case .temporary: RawRequest.rewrite(buffer, as: .create)
        case .statx: RawRequest.rewrite(buffer, as: .getattr)
        default: break
        }
        channel.process(buffer, length)
    }
}

/// The parts of a request that libfuse does not pass on.
struct RawRequest {
    enum Opcode: UInt32 {
        case lookup = 1
        case getattr = 3
        case readlink = 5
        case open = 14
        case read = 15
        case write = 16
        case release = 18
        case fsync = 20
        case getxattr = 22
        case releaseDirectory = 29
        case fsyncdir = 30
        case create = 35
        case fallocate = 43
        case copyFileRange = 47
        case syncfs = 50
        case temporary = 51
        case statx = 52
    }

    private let base: UnsafeRawPointer?

    init(_ buffer: UnsafeMutableRawBufferPointer) { base = UnsafeRawPointer(buffer.baseAddress) }

    private func word<Value: FixedWidthInteger>(_ offset: Int, _ type: Value.Type = Value.self) -> Value {
        base?.load(fromByteOffset: offset, as: type) ?? 0
    }

    var opcode: Opcode? { Opcode(rawValue: word(4)) }
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

    /// FUSE_TMPFILE and FUSE_STATX, which libfuse 3.14 does not know, begin like FUSE_CREATE and
    /// FUSE_GETATTR, so they are passed on as these. May be removed when no libfuse older than 3.18 is in use.
    static func rewrite(_ buffer: UnsafeMutableRawBufferPointer, as opcode: Opcode) {
        let original = RawRequest(buffer).opcode?.rawValue ?? 0
        buffer.storeBytes(of: opcode.rawValue, toByteOffset: 4, as: UInt32.self)
        buffer.storeBytes(of: UInt16(truncatingIfNeeded: original), toByteOffset: rewrittenFrom, as: UInt16.self)
    }
    /// fuse_in_header.padding, zero from the kernel.
    private static let rewrittenFrom = 38
    private func was(_ opcode: Opcode) -> Bool { UInt32(word(Self.rewrittenFrom, UInt16.self)) == opcode.rawValue }

    /// A FUSE_CREATE that was FUSE_TMPFILE: the name has no meaning.
    var isTemporary: Bool { was(.temporary) }
    /// A FUSE_GETATTR that was FUSE_STATX.
    var isStatx: Bool { was(.statx) }

    /// The request that this thread serves.
    static var current: RawRequest { RawRequest(pointer: shim_served()) }

    private init(pointer: UnsafeRawPointer?) { base = pointer }
}
