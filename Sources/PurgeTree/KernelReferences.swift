/// The references that the kernel holds to nodes of the tree: it has looked them up, and has not forgotten them.
package struct KernelReferences: Sendable {
    /// Nodes of which it holds some.
    package private(set) var nodes = 0
    /// References that it gave back without having had them.
    package private(set) var overdrawn = 0

    /// It has one more; answers whether that is its first of the node.
    package mutating func grant(_ node: Node) -> Bool {
        let isFirst = node.lookups == 0
        if isFirst { nodes += 1 }
        // A node that has reached the end of the count stays for good.
        if node.lookups < .max { node.lookups += 1 }
        return isFirst
    }

    /// It has dropped `count`; answers whether it has none left.
    package mutating func forget(_ node: Node, count: UInt64) -> Bool {
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
