import PurgeModel

/// Last uses that are not in the journal yet.
public struct UnsavedUses: Sendable {
    /// Nodes whose last use is newer than in the journal.
    private var nodes: [Node] = []
    /// Inode numbers whose last use the journal no longer needs.
    private var gone: [UInt64] = []
    /// Number of removed files in `nodes`. Only that list keeps them in memory.
    private var goneNodes = 0
    private static let goneLimit = 1_000_000

    mutating func keep(_ node: Node) {
        // The journal knows files by their inode numbers on the container's device.
        guard !node.isOnOtherDevice, !node.flags.contains(.useUnsaved) else { return }
        node.flags.insert(.useUnsaved)
        nodes.append(node)
    }

    /// Records that the node's last name and last descriptor are gone.
    mutating func noteGone(_ node: Node) {
        if !node.isOnOtherDevice { gone.append(node.inode) }
        if node.flags.contains(.useUnsaved) { goneNodes += 1 }
    }

    /// Takes the changes that must be written to the journal.
    public mutating func take() -> (gone: [UInt64], used: [Node]) {
        let used = nodes.filter { !$0.isUnlinked }
        for node in nodes { node.flags.remove(.useUnsaved) }
        defer { self = UnsavedUses() }
        return (gone, used)
    }

    /// Puts back changes that could not be written to the journal, but drops `inodes` if too many are waiting. A record of a
    /// removed file that stays in the journal does no harm, because a later file with the same inode number has another birth
    /// time.
    public mutating func restore(gone inodes: [UInt64], used: [Node]) {
        if inodes.count + gone.count < Self.goneLimit { gone = inodes + gone }
        for node in used { keep(node) }
    }

    /// Releases nodes of removed files once they are half of the list, because a program may make and remove files faster
    /// than the journal is written. The caller must free the nodes outside the lock.
    public mutating func dropGone() -> [Node] {
        guard goneNodes * 2 >= nodes.count, goneNodes > 0 else { return [] }
        var dropped: [Node] = []
        nodes.removeAll { node in
            guard node.isUnlinked, node.opens == 0 else { return false }
            node.flags.remove(.useUnsaved)
            dropped.append(node)
            return true
        }
        goneNodes = 0
        return dropped
    }
}
