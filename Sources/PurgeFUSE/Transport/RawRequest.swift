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
    /// The opcode as the kernel has sent it.
    let number: UInt32
    var opcode: Opcode? { Opcode(rawValue: number) }

    /// - Parameter buffer: holds a header at least.
    init(_ buffer: UnsafeMutableRawBufferPointer) {
        base = UnsafeRawPointer(buffer.baseAddress)
        number = buffer.load(fromByteOffset: 4, as: UInt32.self)
    }

    private func word<Value: FixedWidthInteger>(_ offset: Int, _ type: Value.Type = Value.self) -> Value {
        base?.load(fromByteOffset: offset, as: type) ?? 0
    }

    /// Identifies it until it is answered.
    var unique: UInt64 { word(8) }
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
    /// What many requests begin with: a handle, or the number of another node.
    var firstWord: UInt64 { word(40) }
    /// fuse_read_in.offset, which fuse_write_in and others have in the same place.
    var offset: Int64 { word(48) }
    /// fuse_fallocate_in.length
    var wideSize: Int64 { word(56) }
    /// fuse_read_in.size, where fuse_write_in has it too.
    var readSize: Int { Int(word(56, UInt32.self)) }
    /// FUSE_WRITE_KILL_SUIDGID of fuse_write_in.write_flags
    var writeDropsPrivileges: Bool { word(60, UInt32.self) & 4 != 0 }
    /// FUSE_OPEN_KILL_SUIDGID of fuse_open_in.open_flags
    var openDropsPrivileges: Bool { word(44, UInt32.self) & 1 != 0 }
    /// FATTR_KILL_SUIDGID of fuse_setattr_in.valid
    var changeDropsPrivileges: Bool { word(40, UInt32.self) & (1 << 11) != 0 }

    /// The text at an offset, or one that follows it; each ends with a zero.
    func text(_ offset: Int, number: Int = 0) -> String {
        guard var place = base.map({ $0 + offset }) else { return "" }
        for _ in 0..<number { place += strlen(place.assumingMemoryBound(to: CChar.self)) + 1 }
        return String(cString: place.assumingMemoryBound(to: CChar.self))
    }

    /// The name of a FUSE_TMPFILE has no meaning; libfuse calls the callback of FUSE_CREATE.
    var isTemporary: Bool { opcode == .temporary }
    /// libfuse calls the callback of FUSE_GETATTR.
    var isStatx: Bool { opcode == .statx }

    /// The request that this thread serves.
    static var current: RawRequest { RawRequest(served: shim_served()) }

    private init(served: shim_request) {
        base = served.bytes
        number = served.opcode
    }
}
