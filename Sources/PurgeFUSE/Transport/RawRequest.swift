import CFuse
import CFuseShims
import Glibc

/// A request as the kernel has sent it, for what libfuse does not tell.
///
/// So some bytes are looked at twice. That cannot be left to libfuse, which decodes a request when it is served: a close
/// counts before the next request is read, the thread that reads hands over the lead before slow work, and libfuse passes on
/// neither the flags about privileges nor requests that are newer than it.
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

    /// - Parameter buffer: holds a header at least.
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
    /// fuse_release_in.fh
    var releasedHandle: UInt64 { word(40) }
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
