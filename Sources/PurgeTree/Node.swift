import PurgeModel
import Synchronization

/// The kind of an entry. Control entries are not in the store.
public enum NodeKind: UInt8, Sendable {
    case regular, directory, symbolicLink, special
    case controlDirectory, controlFile
}

/// One inode of a tree, with everything that is known about it without asking the store.
///
/// Its constants are public. Its mutable properties are internal to PurgeTree, where only the functions of `Tree` change
/// them; other modules reach them through a tree, as `tree[node]` (`NodeState`). Each entry of the store has a node, so the
/// size of this class determines the memory per file.
// @unchecked: only functions that have been given the node's tree, or a part of it, read and change each `var`. A tree cannot
// be copied, and its owner keeps it inside a lock. Until a node is inserted, only the thread that made it knows it.
public final class Node: @unchecked Sendable {
    /// Number of nodes in this process, in a tree or not, for the census.
    public static let alive = Atomic<Int>(0)

    public let inode: UInt64
    /// The kind, with `isOnOtherDevice` in the highest bit. One byte, because every node has it.
    private let form: UInt8
    /// Index of the container's root in the tree, and of its ledger in the device.
    @usableFromInline var container: UInt8 = 0
    @usableFromInline var flags: NodeFlags = []
    @usableFromInline var standing = Standing()
    /// The node's own value of isPurgeable.
    var ownMark = PackedMark()
    /// Number of operations that are changing the node's names or attributes. A purge that is about to truncate the file
    /// counts as one.
    @usableFromInline var holds: UInt16 = 0
    /// Number of open descriptors and mappings.
    @usableFromInline var opens: UInt32 = 0
    /// Number of references that the kernel holds.
    @usableFromInline var lookups: UInt32 = 0
    /// Index in the node's `VictimList`, or -1.
    var heapIndex: Int32 = -1
    /// Distinguishes the file from a later one with the same inode number; 0 if unknown.
    public let birthMark: UInt32
    /// The directory of `name`; nil for a root, and once the last name is gone.
    @usableFromInline var parent: Node?
    @usableFromInline var name: Name
    /// Charged 4 KiB blocks of a regular file.
    @usableFromInline var blocks: Int64 = 0
    @usableFromInline var lastUse = Instant.distantPast
    /// Creation time of the file by the device's clock.
    @usableFromInline var creation = Instant.distantPast
    /// State that the volume keeps for I/O on the node. The tree never looks at it; most nodes have none.
    @usableFromInline var attachment: AnyObject?
    /// Data that only some nodes have: entries of a directory, holes, further names.
    var part: NodePart?

    /// Creates a node that is not in a tree yet.
    public init(inode: UInt64, kind: NodeKind, name: Name, birthMark: UInt32 = 0, isOnOtherDevice: Bool = false) {
        self.inode = inode
        form = kind.rawValue | (isOnOtherDevice ? Self.otherDevice : 0)
        self.name = name
        self.birthMark = birthMark
        Self.alive.add(1, ordering: .relaxed)
    }

    deinit { Self.alive.subtract(1, ordering: .relaxed) }
}

// Constant properties.
extension Node {
    private static var otherDevice: UInt8 { 0x80 }

    public var kind: NodeKind { NodeKind(rawValue: form & ~Self.otherDevice) ?? .special }
    public var isDirectory: Bool { form & ~Self.otherDevice == NodeKind.directory.rawValue }
    public var isRegular: Bool { form & ~Self.otherDevice == NodeKind.regular.rawValue }
    public var isControl: Bool { kind == .controlDirectory || kind == .controlFile }
    /// Whether the entry is on another device than the container.
    public var isOnOtherDevice: Bool { form & Self.otherDevice != 0 }

    /// The nodeid by which the kernel knows the node, except for the root, whose nodeid is 1.
    // Unmanaged: takes no reference and only reads the address.
    public var address: UInt64 { UInt64(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())) }
}

/// Data that most nodes do not have.
final class NodePart {
    var entries: [Name: Node] = [:]
    /// Victims in a directory, by rank.
    var victims: [VictimList] = []
    /// A directory's own policy.
    var policy: PolicyIndex?
    /// The policy to which files in a directory belong.
    var nearestPolicy: PolicyIndex?
    /// A directory's own values of purgeGroup and purgeTombstone.
    var behaviour = PurgeBehaviour()
    /// See `Node.nearestGroup`. Unowned, because the group is this directory or one above it.
    unowned var nearestGroup: Node?
    /// Units of a directory that is a group.
    var units: [VictimUnit] = []
    /// Charged blocks of a file with holes, or with blocks past its end.
    var extents: ExtentSet?
    /// All names of a hard-linked file.
    var names: NodeNames?
}

extension Node {
    /// Whether the last name of the file or directory is gone.
    var isUnlinked: Bool { flags.contains(.unlinked) }
    /// Whether a purge has chosen the node, or the node is held because one of its names is about to be removed.
    var isGoing: Bool { flags.contains(.purging) }
    var charged: ByteCount { ByteCount(blocks: blocks) }
    var age: PurgeAge { PurgeAge(lastUse: lastUse, charged: charged) }
    var hasSeveralNames: Bool { part?.names != nil }
    /// Number of names; 1 even if the last name is gone.
    var nameCount: Int { part?.names?.count ?? 1 }
    /// The node's own protection class.
    var protection: FileProtection? { flags.protection }
    /// Whether the node is open or being changed.
    var isInUse: Bool { opens > 0 || holds > 0 }

    /// Entries of a directory; empty for any other node.
    var entries: [Name: Node] { part?.entries ?? [:] }
    func entry(named name: Name) -> Node? { part?.entries[name] }
    /// A directory's own values of purgeGroup and purgeTombstone.
    var behaviour: PurgeBehaviour { part?.behaviour ?? PurgeBehaviour() }

    /// The node's `NodePart`, created on first use.
    var ensuredPart: NodePart {
        if let part { return part }
        let new = NodePart()
        part = new
        return new
    }
}
