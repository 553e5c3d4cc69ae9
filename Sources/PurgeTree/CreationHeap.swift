import PurgeModel

/// A heap of files ordered by creation and then by path, oldest or newest first, from which any file can be removed.
final class CreationHeap: @unchecked Sendable {
    // @unchecked: only functions that receive the tree access the vars, as with `Node`.
    fileprivate let isNewestFirst: Bool
    private var heap = IndexedHeap<CreatedFile>()
    fileprivate var positions: [ObjectIdentifier: Int] = [:]
    /// Charged blocks of all files in the heap.
    private(set) var blocks: Int64 = 0
    /// The creation time whose files are in path order at the top of the heap, and the path version for which that holds.
    private var order: (creation: Instant, paths: UInt64)?

    init(isNewestFirst: Bool = false) { self.isNewestFirst = isNewestFirst }

    var isEmpty: Bool { heap.isEmpty }
    var count: Int { heap.members.count }
    var firstCreation: Instant? { heap.first?.creation }

    func contains(_ node: Node) -> Bool { positions[ObjectIdentifier(node)] != nil }

    func insert(_ node: Node) {
        guard !contains(node) else { return }
        blocks += node.blocks
        // Unmanaged: the directory's index holds the heap, and the heap outlives its members.
        heap.insert(CreatedFile(node: .passUnretained(node), heap: .passUnretained(self)))
    }

    /// Removes the file. Returns whether the heap contained it.
    @discardableResult
    func remove(_ node: Node) -> Bool {
        guard let position = positions.removeValue(forKey: ObjectIdentifier(node)) else { return false }
        blocks -= node.blocks
        heap.remove(at: position)
        if heap.isEmpty { order = nil }
        return true
    }

    /// Removes all files, and returns them in no particular order.
    @discardableResult
    func removeAll() -> [Node] {
        let nodes = heap.members.map { $0.node.takeUnretainedValue() }
        (heap, positions, blocks, order) = (IndexedHeap(), [:], 0, nil)
        return nodes
    }

    /// Returns the first file. `paths` is a version number that changes whenever a path does.
    func first(paths: UInt64) -> Node? {
        guard let creation = firstCreation else { return nil }
        if order?.creation != creation || order?.paths != paths {
            heap.reorderTop { $0.creation == creation }
            order = (creation, paths)
        }
        return heap.first?.node.takeUnretainedValue()
    }
}

/// A file in a `CreationHeap`.
private struct CreatedFile: HeapMember, Sendable {
    // Unmanaged: the tree holds the node, which leaves the heap before it leaves the tree.
    let node: Unmanaged<Node>
    // Unmanaged: only the heap that contains the member uses it.
    let heap: Unmanaged<CreationHeap>

    var creation: Instant { node._withUnsafeGuaranteedRef { $0.creation } }

    func goesBefore(_ other: CreatedFile) -> Bool {
        node._withUnsafeGuaranteedRef { mine in
            other.node._withUnsafeGuaranteedRef { theirs in
                // Unmanaged: this heap contains both members.
                heap._withUnsafeGuaranteedRef { $0.isNewestFirst }
                    ? theirs.wasCreated(before: mine) : mine.wasCreated(before: theirs)
            }
        }
    }
    func note(index: Int) {
        // Unmanaged: the heap calls this for its own members, whose nodes the tree holds.
        heap._withUnsafeGuaranteedRef { $0.positions[ObjectIdentifier(node.takeUnretainedValue())] = index }
    }
}

extension Node {
    /// Returns whether the file is older than `other`, or equally old with a path that precedes the path of `other`.
    func wasCreated(before other: Node) -> Bool {
        creation == other.creation ? pathPrecedes(other) : creation < other.creation
    }
}
