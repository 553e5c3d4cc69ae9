import Glibc
import PurgeSystem
import PurgeTree
import Synchronization

/// How the kernel does the reads and mappings of an open file.
public enum InputOutputMode: Sendable {
    /// Through the page cache of our inode; each write still comes to us in its call.
    case cached
    /// Directly to us, beside cached opens; for descriptors that cannot be mapped.
    case direct
    /// Reads and mappings go to the backing file.
    case passthrough
    /// Reads and writes to us, mappings to the backing file.
    case passthroughDirect
    /// A descriptor of our own, not the kernel's.
    case own

    public var isPassed: Bool { self == .passthrough || self == .passthroughDirect }

    /// That of a descriptor which is not passed through; under the lock.
    init(ofCached node: Node, _ access: Int32) {
        self = access == O_WRONLY && node.io?.mappableOpens == 0 ? .direct : .cached
    }
}

/// One open file. The kernel's fh is this object's address, retained from open to release.
public final class Handle: @unchecked Sendable {
    // @unchecked: the vars are guarded by the lock of `VolumeCore`; `descriptor` is not changed.
    /// In all volumes of this process; for the census.
    static let alive = Atomic<Int>(0)
    public let node: Node
    public let descriptor: Int32
    /// O_RDONLY, O_WRONLY or O_RDWR.
    let access: Int32
    /// The thread that has opened it; 0 for a descriptor of our own.
    let opener: pid_t
    public internal(set) var mode: InputOutputMode
    /// Whether the kernel may keep its cached pages of the file.
    public internal(set) var keepsCache = true
    var isNoted = false
    // Unmanaged: a handle is in the list only while the kernel or `lingering` holds a reference to it.
    var next: Unmanaged<Handle>?
    var previous: Unmanaged<Handle>?
    // Unmanaged: the same for the list of all open files, `HandleList`.
    var nextOfAll: Unmanaged<Handle>?
    var previousOfAll: Unmanaged<Handle>?

    init(node: Node, descriptor: Int32, access: Int32, opener: pid_t = 0, mode: InputOutputMode) {
        self.node = node
        self.descriptor = descriptor
        self.access = access
        self.opener = opener
        self.mode = mode
        Self.alive.add(1, ordering: .relaxed)
    }

    deinit {
        System.close(descriptor)
        Self.alive.subtract(1, ordering: .relaxed)
    }

    public var canWrite: Bool { access != O_RDONLY }
    /// Unmanaged: the address alone retains nothing.
    public var address: UInt64 { UInt64(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())) }
}
