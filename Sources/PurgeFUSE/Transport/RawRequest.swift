import CFuse
import CFuseShims
import Glibc

/// A request as the kernel has sent it, for the parts that libfuse does not pass on.
///
/// So some bytes are parsed twice. libfuse alone is not enough, because libfuse decodes a request only when the request is
/// served. A close must count before the next request is read, and the reading thread must hand over the lead before slow work.
/// Besides, libfuse passes on neither the flags about privileges nor requests that are newer than libfuse.
struct RawRequest {
    /// `enum fuse_opcode` of <linux/fuse.h>. No enum, because the comparison of numbers takes fewer instructions.
    struct Opcode: Equatable {
        let number: UInt32

        private init(_ number: UInt32) { self.number = number }
        fileprivate init(of request: RawRequest) { number = request.number }

        static var lookup: Opcode { Opcode(1) }
        static var getattr: Opcode { Opcode(3) }
        static var readlink: Opcode { Opcode(5) }
        static var read: Opcode { Opcode(15) }
        static var write: Opcode { Opcode(16) }
        static var release: Opcode { Opcode(18) }
        static var fsync: Opcode { Opcode(20) }
        static var getxattr: Opcode { Opcode(22) }
        static var releaseDirectory: Opcode { Opcode(29) }
        static var fsyncdir: Opcode { Opcode(30) }
        static var fallocate: Opcode { Opcode(43) }
        static var copyFileRange: Opcode { Opcode(47) }
        static var syncfs: Opcode { Opcode(50) }
        static var temporary: Opcode { Opcode(51) }
        static var statx: Opcode { Opcode(52) }
    }

    private let base: UnsafeRawPointer?
    /// The opcode as the kernel has sent it.
    let number: UInt32
    var opcode: Opcode { Opcode(of: self) }

    /// - Parameter buffer: holds at least a header.
    init(_ buffer: UnsafeMutableRawBufferPointer) {
        base = UnsafeRawPointer(buffer.baseAddress)
        number = buffer.load(fromByteOffset: 4, as: UInt32.self)
    }

    func word<Value: FixedWidthInteger>(_ offset: Int, _ type: Value.Type = Value.self) -> Value {
        base?.load(fromByteOffset: offset, as: type) ?? 0
    }

    /// Identifies the request until it is answered.
    var unique: UInt64 { word(8) }
    var node: fuse_ino_t { fuse_ino_t(word(16, UInt64.self)) }
    /// The calling thread. 0 in RELEASE and FORGET, and for a thread that is not visible in the daemon's PID namespace.
    var thread: pid_t { pid_t(bitPattern: word(32, UInt32.self)) }
    /// The thread whose call on a path this request completes. 0 for a request that can come before the call's main one, such
    /// as a step on the way to the file or a query by the kernel (the capabilities of a file about to be truncated). Also 0 for
    /// a request for which no thread waits.
    var call: pid_t {
        switch opcode {
        case .lookup, .getattr, .statx, .getxattr, .readlink, .read, .release, .releaseDirectory: 0
        default: thread
        }
    }
    /// The first word of many requests: a handle, or the number of another node.
    var firstWord: UInt64 { word(40) }
    /// fuse_read_in.offset, which fuse_write_in and others have in the same place.
    var offset: Int64 { word(48) }
    /// fuse_copy_file_range_in.nodeid_out
    var copiedTo: UInt64 { word(56) }
    /// fuse_fallocate_in.length
    var wideSize: Int64 { word(56) }
    /// fuse_read_in.size, which fuse_write_in has in the same place.
    var readSize: Int { Int(word(56, UInt32.self)) }
    /// FUSE_WRITE_CACHE of fuse_write_in.write_flags: the kernel writes pages of a mapping back.
    var isWriteBack: Bool { word(60, UInt32.self) & 1 != 0 }
    /// FATTR_SIZE of fuse_setattr_in.valid
    var changesSize: Bool { word(40, UInt32.self) & (1 << 3) != 0 }
    /// Whether this is a READ for a call on a descriptor without page cache: FUSE_READ_LOCKOWNER of fuse_read_in.read_flags.
    private var isDirectRead: Bool { opcode == .read && word(60, UInt32.self) & 2 != 0 }
    /// Halves the size of a READ or WRITE, rounding up. Leaves a READ for the page cache as it is, because the kernel takes a
    /// short answer to it as the end of the file.
    func shorten() {
        guard let base, opcode == .write || isDirectRead else { return }
        let size = UnsafeMutableRawPointer(mutating: base) + 56
        size.storeBytes(of: (word(56, UInt32.self) + 1) / 2, as: UInt32.self)
    }
    /// FUSE_WRITE_KILL_SUIDGID of fuse_write_in.write_flags
    var writeDropsPrivileges: Bool { word(60, UInt32.self) & 4 != 0 }
    /// FUSE_OPEN_KILL_SUIDGID of fuse_open_in.open_flags
    var openDropsPrivileges: Bool { word(44, UInt32.self) & 1 != 0 }
    /// FATTR_KILL_SUIDGID of fuse_setattr_in.valid
    var changeDropsPrivileges: Bool { word(40, UInt32.self) & (1 << 11) != 0 }

    func bytes(_ offset: Int, count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base.map { $0 + offset }, count: base == nil ? 0 : count)
    }

    /// Returns the zero-terminated text at an offset, or the text that comes `number` texts later.
    func text(_ offset: Int, number: Int = 0) -> String {
        guard var place = base.map({ $0 + offset }) else { return "" }
        for _ in 0..<number { place += strlen(place.assumingMemoryBound(to: CChar.self)) + 1 }
        return String(cString: place.assumingMemoryBound(to: CChar.self))
    }

    /// Whether this is a FUSE_TMPFILE, whose name has no meaning. libfuse calls the callback of FUSE_CREATE for it.
    var isTemporary: Bool { opcode == .temporary }
    /// Whether this is a FUSE_STATX. libfuse calls the callback of FUSE_GETATTR for it.
    var isStatx: Bool { opcode == .statx }

    /// The request that this thread serves.
    static var current: RawRequest { RawRequest(served: shim_served()) }

    private init(served: shim_request) {
        base = served.bytes
        number = served.opcode
    }
}
