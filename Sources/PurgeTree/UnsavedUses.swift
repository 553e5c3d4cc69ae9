import PurgeModel

/// Last uses that the journal has not been told of yet.
package struct UnsavedUses: Sendable {
    /// Nodes whose last use is newer than the journal's.
    private var nodes: [Node] = []
    /// Inode numbers whose last use the journal need not keep any longer.
    private var gone: [UInt64] = []
    /// How many of `nodes` are files that are gone, kept in memory by that list alone.
    private var goneNodes = 0
    private static let goneLimit = 1_000_000

    mutating func keep(_ node: Node) {
        // The journal knows files by their inode numbers on the container's device.
        guard node.flags.isDisjoint(with: [.useUnsaved, .onOtherDevice]) else { return }
        node.flags.insert(.useUnsaved)
        nodes.append(node)
    }

    /// The last name and the last descriptor of the node are gone.
    mutating func noteGone(_ node: Node) {
        if !node.flags.contains(.onOtherDevice) { gone.append(node.inode) }
        if node.flags.contains(.useUnsaved) { goneNodes += 1 }
    }

    /// Takes what the journal has to be told.
    package mutating func take() -> (gone: [UInt64], used: [Node]) {
        let used = nodes.filter { !$0.isUnlinked }
        for node in nodes { node.flags.remove(.useUnsaved) }
        defer { self = UnsavedUses() }
        return (gone, used)
    }

    /// The journal could not be told of these. A record of what is gone that stays is of no file: a later file of
    /// the same inode has another birth.
    package mutating func restore(gone inodes: [UInt64], used: [Node]) {
        if inodes.count + gone.count < Self.goneLimit { gone = inodes + gone }
        for node in used { keep(node) }
    }

    /// Lets go of nodes of files that are gone, once they are half of the list: a program may make and remove files
    /// faster than the journal is written. They are the caller's to free, outside of the lock.
    package mutating func dropGone() -> [Node] {
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
