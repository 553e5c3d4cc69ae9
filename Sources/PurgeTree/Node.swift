import PurgeModel
import Synchronization

/// What kind of entry a node is; control entries are not in the store.
public enum NodeKind: UInt8, Sendable {
    case regular, directory, symbolicLink, special
    case controlDirectory, controlFile
}

/// One inode of a tree: what is known about it without asking the store.
///
/// Its constants are public. Everything that changes is internal to PurgeTree, where only the functions of `Tree` change it;
/// other modules reach it through a tree, as `tree[node]` (`NodeState`). There is one node for each entry of the store, so
/// its size determines the memory for each file.
// @unchecked: each `var` is read and changed only by functions that have been given the node's tree, or a part of it. A tree
// cannot be copied, and its owner keeps it inside a lock. Until a node is inserted, only the thread that made it knows it.
public final class Node: @unchecked Sendable {
    /// Nodes of all trees of this process, for the census.
    public static let alive = Atomic<Int>(0)

    public let inode: UInt64
    /// The kind, and `isOnOtherDevice` in the highest bit: one byte, because each node has it.
    private let form: UInt8
    /// Its position among the roots of the tree, and the position of its ledger among the device's.
    @usableFromInline var container: UInt8 = 0
    @usableFromInline var flags: NodeFlags = []
    @usableFromInline var standing = Standing()
    /// The value of isPurgeable of the node itself.
    var ownMark = PackedMark()
    /// How many operations are changing its names or attributes now.
    @usableFromInline var holds: UInt16 = 0
    /// How many descriptors and mappings are open.
    @usableFromInline var opens: UInt32 = 0
    /// How many references the kernel holds.
    @usableFromInline var lookups: UInt32 = 0
    /// The node's position among its directory's victims, or -1.
    var heapIndex: Int32 = -1
    /// Distinguishes the file from a later one with the same inode number; 0 if that is not known.
    public let birthMark: UInt32
    /// The directory of the first name, nil once the last name is gone (and for the root).
    @usableFromInline var parent: Node?
    @usableFromInline var name: Name
    /// Charged 4 KiB blocks, of a regular file.
    @usableFromInline var blocks: Int64 = 0
    @usableFromInline var lastUse = Instant.distantPast
    /// When the file was made, by the device's clock.
    @usableFromInline var creation = Instant.distantPast
    /// What the volume keeps about the node for its I/O. The tree never looks at it; most nodes have none.
    @usableFromInline var attachment: AnyObject?
    /// What only some nodes have: entries of a directory, holes, further names.
    var part: NodePart?

    /// A node that is in no tree yet.
    public init(inode: UInt64, kind: NodeKind, name: Name, birthMark: UInt32 = 0, isOnOtherDevice: Bool = false) {
        self.inode = inode
        form = kind.rawValue | (isOnOtherDevice ? Self.otherDevice : 0)
        self.name = name
        self.birthMark = birthMark
        Self.alive.add(1, ordering: .relaxed)
    }

    deinit { Self.alive.subtract(1, ordering: .relaxed) }
}

// What never changes.
extension Node {
    private static var otherDevice: UInt8 { 0x80 }

    public var kind: NodeKind { NodeKind(rawValue: form & ~Self.otherDevice) ?? .special }
    public var isDirectory: Bool { form & ~Self.otherDevice == NodeKind.directory.rawValue }
    public var isRegular: Bool { form & ~Self.otherDevice == NodeKind.regular.rawValue }
    public var isControl: Bool { kind == .controlDirectory || kind == .controlFile }
    /// Whether it is on another device than the container.
    public var isOnOtherDevice: Bool { form & Self.otherDevice != 0 }

    /// The nodeid under which the kernel knows it; the root's is 1.
    // Unmanaged: no reference is taken, only the address is read.
    public var address: UInt64 { UInt64(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())) }
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
    /// The last name of a file or directory is gone.
    var isUnlinked: Bool { flags.contains(.unlinked) }
    /// A purge has chosen it, or `hold` says that a name of it is about to go.
    var isGoing: Bool { flags.contains(.purging) }
    var charged: ByteCount { ByteCount(blocks: blocks) }
    var age: PurgeAge { PurgeAge(lastUse: lastUse, charged: charged) }
    var hasSeveralNames: Bool { part?.names != nil }
    /// How many names it has, at least one.
    var nameCount: Int { part?.names?.count ?? 1 }
    /// Its own protection class.
    var protection: FileProtection? { flags.protection }
    /// It is open, or being changed.
    var isInUse: Bool { opens > 0 || holds > 0 }

    /// Of a directory.
    var entries: [Name: Node] { part?.entries ?? [:] }
    func entry(named name: Name) -> Node? { part?.entries[name] }
    /// Its own values.
    var behaviour: PurgeBehaviour { part?.behaviour ?? PurgeBehaviour() }

    /// Made when it is first needed.
    var ensuredPart: NodePart {
        if let part { return part }
        let new = NodePart()
        part = new
        return new
    }
}
