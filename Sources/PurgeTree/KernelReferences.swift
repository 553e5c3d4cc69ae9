/// The references that the kernel holds to nodes of the tree, which it has looked up and not forgotten yet.
public struct KernelReferences: Sendable {
    /// How many nodes it holds references to.
    public private(set) var nodes = 0
    /// How many references it has returned without having had them.
    public private(set) var overdrawn = 0

    /// One more. Returns whether it is the first one of the node.
    public mutating func grant(_ node: Node) -> Bool {
        let isFirst = node.lookups == 0
        if isFirst { nodes += 1 }
        // A node that has reached the end of the count stays for good.
        if node.lookups < .max { node.lookups += 1 }
        return isFirst
    }

    /// The kernel has dropped `count`. Returns whether it has none left.
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
