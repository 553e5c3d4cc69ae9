import Glibc
import PurgeSystem
import PurgeTree
import Synchronization

/// How the kernel handles the I/O and mappings of an open file.
public enum InputOutputMode: UInt8, Sendable, AtomicRepresentable {
    /// I/O goes through the page cache of our inode, but each write(2) still reaches us before it returns.
    case cached
    /// I/O comes directly to us, even while other opens are cached; for descriptors that cannot be mapped.
    case direct
    /// Reads and mappings go to the backing file.
    case passthrough
    /// Reads and writes come to us, mappings go to the backing file.
    case passthroughDirect
    /// A descriptor of our own, not the kernel's.
    case own

    public var isPassed: Bool { self == .passthrough || self == .passthroughDirect }

    /// Chooses the mode of a descriptor that is not passed through. With `readsDirectly`, the reads of a descriptor that only
    /// reads come to us; it cannot leave stale pages behind.
    init(ofCached io: borrowing NodeIO, _ access: Int32, readsDirectly: Bool = false) {
        let isDirect = access == O_RDONLY ? readsDirectly : access == O_WRONLY && io.mappableOpens == 0
        self = isDirect ? .direct : .cached
    }
}

/// One open file. The kernel's fh is this object's address, retained from open to release.
// @unchecked: only the lists below, which are parts of the volume's state, use the vars.
public final class Handle: @unchecked Sendable {
    /// The number of live handles in all volumes of this process, for the census.
    static let alive = Atomic<Int>(0)
    public let node: Node
    public let descriptor: Int32
    /// O_RDONLY, O_WRONLY or O_RDWR.
    let access: Int32
    /// The thread that has opened the file; 0 for a descriptor of our own.
    let opener: pid_t
    private let currentMode: Atomic<InputOutputMode>
    /// Whether the kernel may keep its cached pages of the file.
    public let keepsCache: Bool
    /// Whether the handle's RELEASE has been noted.
    fileprivate var isReleased = false
    // Unmanaged: a handle is in the list of its node only while the kernel or `lingering` holds a reference to it.
    fileprivate var next: Unmanaged<Handle>?
    fileprivate var previous: Unmanaged<Handle>?
    // Unmanaged: as for `next`, in the list of all open files.
    fileprivate var nextOfAll: Unmanaged<Handle>?
    fileprivate var previousOfAll: Unmanaged<Handle>?

    init(
        node: Node, descriptor: Int32, access: Int32, opener: pid_t = 0, mode: InputOutputMode, keepsCache: Bool = true
    ) {
        self.node = node
        self.descriptor = descriptor
        self.access = access
        self.opener = opener
        self.keepsCache = keepsCache
        currentMode = Atomic(mode)
        Self.alive.add(1, ordering: .relaxed)
    }

    deinit {
        System.close(descriptor)
        Self.alive.subtract(1, ordering: .relaxed)
    }

    public var canWrite: Bool { access != O_RDONLY }
    /// The present mode. It changes at most once, before the kernel has the answer to OPEN (`OpenFiles.withdrawPassthrough`).
    public var mode: InputOutputMode { currentMode.load(ordering: .relaxed) }
    /// Unmanaged: the address alone retains nothing.
    public var address: UInt64 { UInt64(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())) }

    /// Changes the mode to that of a cached open, after the kernel has refused passthrough.
    func withdrawPassthrough(_ io: borrowing NodeIO) {
        currentMode.store(InputOutputMode(ofCached: io, access), ordering: .relaxed)
    }
}

/// The open descriptors of a node, newest first.
struct NodeHandles: ~Copyable, Sendable {
    // Unmanaged: `insert` retains each handle until `OpenFiles.close`. `NodeIO.lingering` holds a handle that stays longer.
    private var first: Unmanaged<Handle>?

    var isEmpty: Bool { first == nil }
    var newest: Handle? { first?.takeUnretainedValue() }

    /// The thread of the newest open that the app still has, or whose mapping it may still have; nil if there is none.
    var lastOpener: pid_t? {
        var next = first
        while let handle = next {
            let (opener, after) = handle._withUnsafeGuaranteedRef { ($0.opener, $0.next) }
            if opener != 0 { return opener }
            next = after
        }
        return nil
    }

    /// Inserts a handle, and takes the kernel's reference to it.
    mutating func insert(_ handle: Handle) {
        handle.next = first
        // Unmanaged: the kernel's reference, released by `OpenFiles.close`.
        first = Unmanaged.passRetained(handle)
        handle.next?._withUnsafeGuaranteedRef { $0.previous = first }
    }

    /// Removes a handle. The kernel's reference remains.
    mutating func remove(_ handle: Handle) {
        if let previous = handle.previous {
            previous._withUnsafeGuaranteedRef { $0.next = handle.next }
        } else {
            first = handle.next
        }
        handle.next?._withUnsafeGuaranteedRef { $0.previous = handle.previous }
        handle.next = nil
        handle.previous = nil
    }

    /// Marks a handle as released. Returns whether this is its first release.
    mutating func noteRelease(of handle: Handle) -> Bool {
        defer { handle.isReleased = true }
        return !handle.isReleased
    }
}

/// All handles of a volume, newest first.
struct HandleList: ~Copyable, Sendable {
    // Unmanaged: a handle is in this list exactly as long as in its node's list (`VolumeState.link`), so the same references
    // hold it.
    private var first: Unmanaged<Handle>?
    private(set) var count = 0

    mutating func insert(_ handle: Handle) {
        count += 1
        handle.nextOfAll = first
        // Unmanaged: for the same reason as `first`.
        first = Unmanaged.passUnretained(handle)
        handle.nextOfAll?._withUnsafeGuaranteedRef { $0.previousOfAll = first }
    }

    mutating func remove(_ handle: Handle) {
        count -= 1
        if let previous = handle.previousOfAll {
            previous._withUnsafeGuaranteedRef { $0.nextOfAll = handle.nextOfAll }
        } else {
            first = handle.nextOfAll
        }
        handle.nextOfAll?._withUnsafeGuaranteedRef { $0.previousOfAll = handle.previousOfAll }
        handle.nextOfAll = nil
        handle.previousOfAll = nil
    }

    /// Returns the files of the `count` handles that were opened last.
    func newestFiles(_ count: Int) -> [Node] {
        var files: [Node] = []
        var next = first
        while files.count < count, let handle = next {
            handle._withUnsafeGuaranteedRef { handle in
                next = handle.nextOfAll
                files.append(handle.node)
            }
        }
        return files
    }

    /// Calls `body` once for each open file, and returns the values that are not nil.
    func files<Value>(_ body: (Node) -> Value?) -> [Value] {
        var (found, seen): ([Value], Set<ObjectIdentifier>) = ([], [])
        var next = first
        while let handle = next {
            handle._withUnsafeGuaranteedRef { handle in
                next = handle.nextOfAll
                if seen.insert(ObjectIdentifier(handle.node)).inserted, let value = body(handle.node) {
                    found.append(value)
                }
            }
        }
        return found
    }
}
