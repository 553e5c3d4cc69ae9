import PurgeModel
import PurgeStore
import PurgeSystem
import Synchronization

/// What kind of entry a node is; control entries are not in the store.
public enum NodeKind: UInt8, Sendable {
    case regular, directory, symbolicLink, special
    case controlDirectory, controlFile
}

/// One inode of the mounted volume. Its nodeid in the kernel is this object's address.
///
/// Every `var` is guarded by the lock of `Volume.state`; that is what makes it Sendable.
/// There is one for each entry of the store, so its size is what a file costs in memory.
public final class Node: @unchecked Sendable {
    /// Of all volumes of this process; for the census.
    static let alive = Atomic<Int>(0)

    public let inode: UInt64
    public let kind: NodeKind
    /// Changed only by Volume's own functions, under its lock.
    var flags: NodeFlags = []
    var standing = Standing()
    /// The value of isPurgeable that the node carries itself.
    var ownMark = PackedMark()
    /// Operations that are changing its names or attributes just now.
    var holds: UInt16 = 0
    /// Descriptors and mappings that are open.
    var opens: UInt32 = 0
    /// References that the kernel holds.
    var lookups: UInt32 = 0
    /// Where the node stands among its directory's victims, or -1.
    var heapIndex: Int32 = -1
    /// Tells the file from a later one with the same inode number; 0 where that is not known. See `BirthMark`.
    var birthMark: UInt32 = 0
    /// The directory of the first name, nil once the last name is gone (and for the root).
    var parent: Node?
    var name: Name
    /// Charged 4 KiB blocks, of a regular file.
    var blocks: Int64 = 0
    var lastUse = Instant.distantPast
    /// Any open descriptor of it, to reach a file that has no name left.
    var firstHandle: Unmanaged<Handle>?
    /// What only some have: entries of a directory, holes, further names.
    var part: NodePart?

    init(inode: UInt64, kind: NodeKind, parent: Node?, name: Name) {
        self.inode = inode
        self.kind = kind
        self.parent = parent
        self.name = name
        Self.alive.add(1, ordering: .relaxed)
    }

    deinit { Self.alive.subtract(1, ordering: .relaxed) }
}

struct NodeFlags: OptionSet {
    var rawValue: UInt16
    /// The last name is gone.
    static let unlinked = NodeFlags(rawValue: 1)
    /// A purge has chosen it; its name is about to go.
    static let purging = NodeFlags(rawValue: 2)
    /// The store would not let go of it: not offered for purging again in this mount.
    static let stuck = NodeFlags(rawValue: 4)
    /// `lastUse` has changed since it was last written to the journal.
    static let useUnsaved = NodeFlags(rawValue: 8)
    /// It carries isExcludedFromBackup itself.
    static let ownExclusion = NodeFlags(rawValue: 16)
    /// A directory that carries fileProtection, which new entries inherit.
    static let ownProtection = NodeFlags(rawValue: 32)
    /// The kernel is to drop its pages at the next open: they may have been changed behind its
    /// cache, or a read that they would serve has to be seen.
    static let cacheIsStale = NodeFlags(rawValue: 64)
    /// Its blocks are in the ledger's numbers.
    static let counted = NodeFlags(rawValue: 128)
    /// Its blocks are in the number of what purging would give back.
    static let reclaimable = NodeFlags(rawValue: 256)
    /// It has a name outside the container, so purging it would give nothing back.
    static let linkedOutside = NodeFlags(rawValue: 512)
    /// It lies on another device than the container.
    static let onOtherDevice = NodeFlags(rawValue: 1024)
}

/// Tier, effective mark and effective exclusion of a node, in one byte.
struct Standing: Hashable {
    private var bits: UInt8 = 2

    init() {}
    init(tier: Tier, mark: PurgeMark?, isExcluded: Bool) {
        bits = UInt8(Tier.allCases.firstIndex(of: tier) ?? 2)
        bits |= PackedMark(mark).bits << 2
        bits |= isExcluded ? 0x20 : 0
    }

    var tier: Tier {
        switch bits & 3 {
        case 0: .temporary
        case 1: .caches
        default: .persistent
        }
    }
    var mark: PurgeMark? { PackedMark(bits: bits >> 2 & 7).mark }
    var isExcluded: Bool { bits & 0x20 != 0 }
    var writeClass: WriteClass { .of(tier: tier, effectiveMark: mark) }
    var rank: PurgeRank? { .of(tier: tier, effectiveMark: mark) }
}

/// An optional PurgeMark in three bits.
struct PackedMark: Hashable {
    var bits: UInt8 = 0

    init() {}
    init(bits: UInt8) { self.bits = bits }
    init(_ mark: PurgeMark?) {
        switch mark {
        case nil: bits = 0
        case .notPurgeable: bits = 1
        case .purgeable(let urgency): bits = 2 + UInt8(urgency.rank)
        }
    }

    var mark: PurgeMark? {
        switch bits {
        case 1: .notPurgeable
        case 2: .purgeable(.low)
        case 3: .purgeable(.medium)
        case 4: .purgeable(.high)
        default: nil
        }
    }
}

/// The parts of a node that most nodes do not have.
final class NodePart {
    /// Of a directory.
    var entries: [Name: Node] = [:]
    /// Of a directory: the victims in it, by rank.
    var victims: [VictimGroup] = []
    /// Of what is no regular file and has no name left, but somebody's descriptor or working
    /// directory: what is left of it. A regular file is reached through its handles.
    var remains: Remains?
    /// Of a directory: an O_PATH descriptor, when the cache holds one.
    var descriptor: FileDescriptor?
    var descriptorSlot = -1
    var descriptorWasUsed = false
    /// Of a file that is not dense.
    var extents: FileExtents?
    /// Blocks whose charge could not be settled after a call that failed.
    var unsettled: Range<Int64>?
    /// Of a file with several names: all of them.
    var names: NodeNames?
    /// How the kernel does the I/O of the open descriptors.
    var cachedOpens: Int32 = 0
    var passthroughOpens: Int32 = 0
    /// The last one of them, while it may still be mapped; those of which the RELEASE has been read, but
    /// which are not closed yet; the backing's modification time as known, where a mapping may write.
    var lingering: Handle?
    var closing: Int32 = 0
    var modified: Instant?
    /// Opens that can be mapped for writing: O_RDWR.
    var mappableOpens: Int32 = 0
    /// Writes that are under way; what has to run alone, or waits to; whether such a one runs.
    var writers: Int32 = 0
    var soloists: Int32 = 0
    var isSolo = false
}

/// The blocks of a file with holes, or with blocks past its end.
struct FileExtents {
    var charged: ExtentSet
    var record: ExtentRecord
    var size: Int64
}

extension Node {
    var isDirectory: Bool { kind == .directory }
    var isRegular: Bool { kind == .regular }
    public var isControl: Bool { kind == .controlDirectory || kind == .controlFile }
    var charged: ByteCount { ByteCount(blocks: blocks) }
    var age: PurgeAge { PurgeAge(lastUse: lastUse, charged: charged) }
    var hasSeveralNames: Bool { part?.names != nil }
    /// Something has it open, or is changing it.
    var isInUse: Bool { opens > 0 || holds > 0 }
    var isDense: Bool { part?.extents == nil }
    /// Whether a mapping made through passthrough may reach its blocks unseen.
    var isPassed: Bool { part.map { $0.passthroughOpens > 0 || $0.lingering != nil } ?? false }

    /// Made when first wanted.
    var ensuredPart: NodePart {
        if let part { return part }
        let new = NodePart()
        part = new
        return new
    }

    /// The nodeid under which the kernel knows it; the root's is 1.
    public var address: UInt64 { UInt64(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())) }

    /// Path in the container, without a leading slash; under the lock.
    func path() -> [Name] {
        var names: [Name] = []
        var node = self
        while let parent = node.parent {
            names.append(node.name)
            node = parent
        }
        return names.reversed()
    }
}

extension Node {
    private var depth: Int {
        var depth = 0
        var node = self
        while let parent = node.parent { (node, depth) = (parent, depth + 1) }
        return depth
    }

    /// Whether its path, byte by byte, comes before that of another node of the tree; under the lock.
    func pathPrecedes(_ other: Node) -> Bool {
        var (mine, theirs) = (self, other)
        let (depth, otherDepth) = (depth, other.depth)
        for _ in 0..<max(0, depth - otherDepth) { mine = mine.parent ?? mine }
        for _ in 0..<max(0, otherDepth - depth) { theirs = theirs.parent ?? theirs }
        if mine === theirs { return depth < otherDepth }
        while let above = mine.parent, let otherAbove = theirs.parent, above !== otherAbove {
            (mine, theirs) = (above, otherAbove)
        }
        return mine.name.precedes(theirs.name, goesOn: mine !== self, otherGoesOn: theirs !== other)
    }
}

extension [Name] {
    var text: String { map(\.text).joined(separator: "/") }
    var bytes: [UInt8] { Array<UInt8>(map { Array<UInt8>($0.utf8) }.joined(separator: [UInt8(ascii: "/")])) }
}

extension Node {
    /// For a thread that does not hold the lock.
    func isDenseNow(_ state: borrowing Mutex<VolumeState>) -> Bool { state.withLock { _ in isDense } }
}
