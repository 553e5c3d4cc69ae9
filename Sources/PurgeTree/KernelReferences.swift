/// The references that the kernel holds to nodes of the tree: look-ups that it has not forgotten yet.
public struct KernelReferences: Sendable {
    /// Number of nodes that the kernel references.
    public private(set) var nodes = 0
    /// Number of requests to forget more references than the kernel held.
    public private(set) var overdrawn = 0

    /// Adds a reference. Returns whether it is the node's first.
    public mutating func grant(_ node: Node) -> Bool {
        let isFirst = node.lookups == 0
        if isFirst { nodes += 1 }
        // The count saturates, and such a node is never forgotten.
        if node.lookups < .max { node.lookups += 1 }
        return isFirst
    }

    /// Drops `count` references, unless the kernel holds fewer. Returns true if that released the last one.
    public mutating func forget(_ node: Node, count: UInt64) -> Bool {
        guard count <= node.lookups else {
            overdrawn += 1
            return false
        }
        guard node.lookups < .max else { return false }
        node.lookups -= UInt32(count)
        guard node.lookups == 0, count > 0 else { return false }
        nodes -= 1
        return true
    }
}
