import PurgeModel
import Synchronization

/// What kind of entry a node is; control entries are not in the store.
public enum NodeKind: UInt8, Sendable {
    case regular, directory, symbolicLink, special
    case controlDirectory, controlFile
}

/// One inode of a tree: what is known about it without asking the store.
///
/// There is one for each entry of the store, so its size determines the memory for each file.
// @unchecked: every `var` is guarded by the lock of whoever owns the tree.
public final class Node: @unchecked Sendable {
    /// Of all trees of this process; for the census.
    package static let alive = Atomic<Int>(0)

    public let inode: UInt64
    public let kind: NodeKind
    package var flags: NodeFlags = []
    package var standing = Standing()
    /// The value of isPurgeable of the node itself.
    package var ownMark = PackedMark()
    /// How many operations are changing its names or attributes now.
    package var holds: UInt16 = 0
    /// How many descriptors and mappings are open.
    package var opens: UInt32 = 0
    /// How many references the kernel holds.
    package var lookups: UInt32 = 0
    /// The node's position among its directory's victims, or -1.
    package var heapIndex: Int32 = -1
    /// Distinguishes the file from a later one with the same inode number; 0 if that is not known.
    package var birthMark: UInt32 = 0
    /// The directory of the first name, nil once the last name is gone (and for the root).
    package var parent: Node?
    package var name: Name
    /// Charged 4 KiB blocks, of a regular file.
    package var blocks: Int64 = 0
    package var lastUse = Instant.distantPast
    /// What the volume keeps about the node for its I/O. The tree never looks at it; most nodes have none.
    package var attachment: AnyObject?
    /// What only some nodes have: entries of a directory, holes, further names.
    package var part: NodePart?

    package init(inode: UInt64, kind: NodeKind, parent: Node?, name: Name) {
        self.inode = inode
        self.kind = kind
        self.parent = parent
        self.name = name
        Self.alive.add(1, ordering: .relaxed)
    }

    deinit { Self.alive.subtract(1, ordering: .relaxed) }
}

/// The parts of a node that most nodes do not have.
package final class NodePart {
    /// Of a directory.
    package var entries: [Name: Node] = [:]
    /// For a directory: the victims in it, by rank.
    var victims: [VictimGroup] = []
    /// For a file with holes, or with blocks past its end: the blocks that are charged.
    package var extents: ExtentSet?
    /// For a file with several names: all of them.
    package var names: NodeNames?
}

extension Node {
    package var isDirectory: Bool { kind == .directory }
    package var isRegular: Bool { kind == .regular }
    public var isControl: Bool { kind == .controlDirectory || kind == .controlFile }
    package var charged: ByteCount { ByteCount(blocks: blocks) }
    package var age: PurgeAge { PurgeAge(lastUse: lastUse, charged: charged) }
    package var hasSeveralNames: Bool { part?.names != nil }
    /// Something has it open, or is changing it.
    package var isInUse: Bool { opens > 0 || holds > 0 }
    /// Whether its charge is its size: it has no holes, and no blocks past its end.
    package var isDense: Bool { part?.extents == nil }

    /// Made when it is first needed.
    package var ensuredPart: NodePart {
        if let part { return part }
        let new = NodePart()
        part = new
        return new
    }

    /// The nodeid under which the kernel knows it; the root's is 1.
    // Unmanaged: no reference is taken, only the address is read.
    public var address: UInt64 { UInt64(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())) }
}
