import PurgeModel
import Synchronization

/// What kind of entry a node is; control entries are not in the store.
public enum NodeKind: UInt8, Sendable {
    case regular, directory, symbolicLink, special
    case controlDirectory, controlFile
}

/// One inode of a tree: what is known about it without asking the store. Only the functions of `Tree` change it.
///
/// There is one for each entry of the store, so its size determines the memory for each file.
// @unchecked: every `var` is guarded by the lock of the tree's owner.
public final class Node: @unchecked Sendable {
    /// Of all trees of this process; for the census.
    public static let alive = Atomic<Int>(0)

    public let inode: UInt64
    public let kind: NodeKind
    /// Its position among the roots of the tree, and that of its ledger among the device's.
    public internal(set) var container: UInt8 = 0
    public internal(set) var flags: NodeFlags = []
    public internal(set) var standing = Standing()
    /// The value of isPurgeable of the node itself.
    public internal(set) var ownMark = PackedMark()
    /// How many operations are changing its names or attributes now.
    public internal(set) var holds: UInt16 = 0
    /// How many descriptors and mappings are open.
    public internal(set) var opens: UInt32 = 0
    /// How many references the kernel holds.
    public internal(set) var lookups: UInt32 = 0
    /// The node's position among its directory's victims, or -1.
    public internal(set) var heapIndex: Int32 = -1
    /// Distinguishes the file from a later one with the same inode number; 0 if that is not known.
    public let birthMark: UInt32
    /// The directory of the first name, nil once the last name is gone (and for the root).
    public internal(set) var parent: Node?
    public internal(set) var name: Name
    /// Charged 4 KiB blocks, of a regular file.
    public internal(set) var blocks: Int64 = 0
    public internal(set) var lastUse = Instant.distantPast
    /// When the file was made, by the device's clock.
    public internal(set) var creation = Instant.distantPast
    /// What the volume keeps about the node for its I/O. The tree never looks at it; most nodes have none.
    public private(set) var attachment: AnyObject?
    /// What only some nodes have: entries of a directory, holes, further names.
    var part: NodePart?

    /// A node that is in no tree yet.
    public init(inode: UInt64, kind: NodeKind, name: Name, birthMark: UInt32 = 0, isOnOtherDevice: Bool = false) {
        self.inode = inode
        self.kind = kind
        self.name = name
        self.birthMark = birthMark
        if isOnOtherDevice { flags = .onOtherDevice }
        Self.alive.add(1, ordering: .relaxed)
    }

    /// Sets `attachment`, once and for all.
    package func attach(_ object: AnyObject) {
        if attachment == nil { attachment = object }
    }

    deinit { Self.alive.subtract(1, ordering: .relaxed) }
}

/// The parts of a node that most nodes do not have.
final class NodePart {
    /// Of a directory.
    var entries: [Name: Node] = [:]
    /// For a directory: the victims in it, by rank.
    var victims: [VictimList] = []
    /// Of a directory that has one.
    var policy: PolicyIndex?
    /// Of a directory: the policy of the files in it.
    var nearestPolicy: PolicyIndex?
    /// Of a directory.
    var behaviour = PurgeBehaviour()
    /// Of a directory: see `Node.nearestGroup`. Unowned, because it may be the directory itself; it is above it otherwise.
    unowned var nearestGroup: Node?
    /// Of a directory that is purged as one: what is ordered as one.
    var units: [VictimUnit] = []
    /// For a file with holes, or with blocks past its end: the blocks that are charged.
    var extents: ExtentSet?
    /// For a file with several names: all of them.
    var names: NodeNames?
}

extension Node {
    public var isDirectory: Bool { kind == .directory }
    public var isRegular: Bool { kind == .regular }
    public var isControl: Bool { kind == .controlDirectory || kind == .controlFile }
    /// The last name of a file or directory is gone.
    public var isUnlinked: Bool { flags.contains(.unlinked) }
    /// A purge has chosen it, or `hold` says that a name of it is about to go.
    public var isGoing: Bool { flags.contains(.purging) }
    public var charged: ByteCount { ByteCount(blocks: blocks) }
    /// Its own protection class. If it has none, that of the device applies.
    public var protection: FileProtection? { flags.protection }
    public var age: PurgeAge { PurgeAge(lastUse: lastUse, charged: charged) }
    public var hasSeveralNames: Bool { part?.names != nil }
    /// How many names it has, at least one.
    public var nameCount: Int { part?.names?.count ?? 1 }
    /// It is open, or being changed.
    public var isInUse: Bool { opens > 0 || holds > 0 }

    /// Of a directory.
    public var entries: [Name: Node] { part?.entries ?? [:] }
    /// Its own values.
    public var behaviour: PurgeBehaviour { part?.behaviour ?? PurgeBehaviour() }
    public func entry(named name: Name) -> Node? { part?.entries[name] }

    /// Made when it is first needed.
    var ensuredPart: NodePart {
        if let part { return part }
        let new = NodePart()
        part = new
        return new
    }

    /// The kernel must drop its pages at the next open: the file may have been changed behind its cache, or the next
    /// read must reach the backing file. This belongs to the volume's I/O, and no number follows from it.
    public var cacheIsStale: Bool {
        get { flags.contains(.cacheIsStale) }
        set { flags.set(.cacheIsStale, to: newValue) }
    }

    /// The nodeid under which the kernel knows it; the root's is 1.
    // Unmanaged: no reference is taken, only the address is read.
    public var address: UInt64 { UInt64(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())) }
}
