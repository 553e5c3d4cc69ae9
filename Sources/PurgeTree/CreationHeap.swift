import PurgeModel

/// Files in the order of their creation, then of their paths, or in the opposite order, from which any can be removed.
final class CreationHeap: @unchecked Sendable {
    // @unchecked: the vars are used only by functions that have been given the tree, as those of `Node` are.
    fileprivate let isNewestFirst: Bool
    private var heap = IndexedHeap<CreatedFile>()
    fileprivate var positions: [ObjectIdentifier: Int] = [:]
    /// Charged blocks of all files in it.
    private(set) var blocks: Int64 = 0
    /// For which creation, and with which paths, the files at the top are in the order of their paths.
    private var order: (creation: Instant, paths: UInt64)?

    init(isNewestFirst: Bool = false) { self.isNewestFirst = isNewestFirst }

    var isEmpty: Bool { heap.isEmpty }
    var count: Int { heap.members.count }
    /// When the first file was created.
    var firstCreation: Instant? { heap.first?.creation }

    func contains(_ node: Node) -> Bool { positions[ObjectIdentifier(node)] != nil }

    func insert(_ node: Node) {
        guard !contains(node) else { return }
        blocks += node.blocks
        // Unmanaged: the heap is part of the directory's index, which holds it, and it holds itself for its members.
        heap.insert(CreatedFile(node: .passUnretained(node), heap: .passUnretained(self)))
    }

    /// Returns whether it was there.
    @discardableResult
    func remove(_ node: Node) -> Bool {
        guard let position = positions.removeValue(forKey: ObjectIdentifier(node)) else { return false }
        blocks -= node.blocks
        heap.remove(at: position)
        if heap.isEmpty { order = nil }
        return true
    }

    /// Removes all of them; in no particular order.
    @discardableResult
    func removeAll() -> [Node] {
        let nodes = heap.members.map { $0.node.takeUnretainedValue() }
        (heap, positions, blocks, order) = (IndexedHeap(), [:], 0, nil)
        return nodes
    }

    /// The first file. `paths` is a number that changes when paths have.
    func first(paths: UInt64) -> Node? {
        guard let creation = firstCreation else { return nil }
        if order?.creation != creation || order?.paths != paths {
            heap.reorderTop { $0.creation == creation }
            order = (creation, paths)
        }
        return heap.first?.node.takeUnretainedValue()
    }
}

/// A file of a `CreationHeap`.
private struct CreatedFile: HeapMember, Sendable {
    // Unmanaged: the tree holds the node for as long as it is here, since a node is removed from here first.
    let node: Unmanaged<Node>
    // Unmanaged: a member is only used by the heap that it is in.
    let heap: Unmanaged<CreationHeap>

    var creation: Instant { node._withUnsafeGuaranteedRef { $0.creation } }

    func goesBefore(_ other: CreatedFile) -> Bool {
        node._withUnsafeGuaranteedRef { mine in
            other.node._withUnsafeGuaranteedRef { theirs in
                // Unmanaged: the heap that both are in.
                heap._withUnsafeGuaranteedRef { $0.isNewestFirst }
                    ? theirs.wasCreated(before: mine) : mine.wasCreated(before: theirs)
            }
        }
    }
    func note(index: Int) {
        // Unmanaged: the same node and heap.
        heap._withUnsafeGuaranteedRef { $0.positions[ObjectIdentifier(node.takeUnretainedValue())] = index }
    }
}

extension Node {
    /// Whether it is older than another file, or equally old with a path that comes first.
    func wasCreated(before other: Node) -> Bool {
        creation == other.creation ? pathPrecedes(other) : creation < other.creation
    }
}
