import PurgeModel

/// Every file that purging would give back now, in the order in which it would go.
///
/// One heap for each rank, keyed by last use and size, so choosing a victim costs the same
/// however many there are. Guarded by the lock of `Volume.state`, as the nodes are.
struct VictimQueue {
    private struct Entry {
        var age: PurgeAge
        // The tree holds the node for as long as it is here: it leaves before it leaves the tree.
        var node: Unmanaged<Node>
    }
    private var heaps = [[Entry]](repeating: [], count: PurgeRank.count)

    var isEmpty: Bool { heaps.allSatisfy(\.isEmpty) }

    mutating func insert(_ node: Node, rank: PurgeRank) {
        let entry = Entry(age: node.age, node: .passUnretained(node))
        heaps[rank.index].append(entry)
        node.heapIndex = Int32(heaps[rank.index].count - 1)
        Self.siftUp(&heaps[rank.index], heaps[rank.index].count - 1)
    }

    mutating func remove(_ node: Node, rank: PurgeRank) {
        let at = Int(node.heapIndex)
        guard at >= 0 else { return }
        node.heapIndex = -1
        let last = heaps[rank.index].removeLast()
        guard at < heaps[rank.index].count else { return }
        Self.place(last, at: at, in: &heaps[rank.index])
        Self.siftUp(&heaps[rank.index], at)
        Self.siftDown(&heaps[rank.index], Int(last.node._withUnsafeGuaranteedRef { $0.heapIndex }))
    }

    /// Takes out the file that goes next, of one step or of any.
    mutating func popFirst(step: PurgeStep?) -> PurgeCandidate<Node>? {
        for rank in Self.ranks where step == nil || rank.step == step {
            guard let first = heaps[rank.index].first else { continue }
            let node = firstByPath(of: rank, age: first.age)
            remove(node, rank: rank)
            return PurgeCandidate(id: node, rank: rank, age: first.age)
        }
        return nil
    }

    private static let ranks = PurgeStep.allCases.flatMap { step in
        Urgency.allCases.map { PurgeRank(step: step, urgency: $0) }
    }

    /// Files that are equal in last use and size stand together at the top of the heap; the
    /// first of them by path goes.
    private func firstByPath(of rank: PurgeRank, age: PurgeAge) -> Node {
        let heap = heaps[rank.index]
        var best = heap[0].node.takeUnretainedValue()
        var bestPath: [UInt8]?
        var open = [1, 2]
        while let at = open.popLast() {
            guard at < heap.count, heap[at].age == age else { continue }
            open += [2 * at + 1, 2 * at + 2]
            let node = heap[at].node.takeUnretainedValue()
            let path = node.path().bytes
            let smallest = bestPath ?? best.path().bytes
            bestPath = smallest
            if path.lexicographicallyPrecedes(smallest) {
                best = node
                bestPath = path
            }
        }
        return best
    }

    private static func place(_ entry: Entry, at index: Int, in heap: inout [Entry]) {
        heap[index] = entry
        entry.node._withUnsafeGuaranteedRef { $0.heapIndex = Int32(index) }
    }

    private static func siftUp(_ heap: inout [Entry], _ start: Int) {
        var at = start
        let entry = heap[at]
        while at > 0 {
            let parent = (at - 1) / 2
            guard entry.age < heap[parent].age else { break }
            place(heap[parent], at: at, in: &heap)
            at = parent
        }
        place(entry, at: at, in: &heap)
    }

    private static func siftDown(_ heap: inout [Entry], _ start: Int) {
        var at = start
        let entry = heap[at]
        while true {
            var child = 2 * at + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].age < heap[child].age { child += 1 }
            guard heap[child].age < entry.age else { break }
            place(heap[child], at: at, in: &heap)
            at = child
        }
        place(entry, at: at, in: &heap)
    }
}
