import PurgeSystem
import PurgeTree

/// A bounded set of directories whose descriptors stay open, maintained with the clock algorithm.
struct DescriptorRing {
    private var slots: [Node?] = []
    private var free: [Int] = []
    private var hand = 0
    /// Number of directories in the ring.
    private(set) var count = 0
    private(set) var limit: Int

    init(limit: Int) { self.limit = max(DescriptorBudget.leastDirectories, limit) }

    /// Adds the descriptor of a directory, marked as used, unless the directory has one. Evicts others to make room.
    mutating func insert(_ descriptor: FileDescriptor, of directory: Node, in tree: inout Tree) {
        guard tree[directory].io.descriptor == nil else { return }
        tree[directory].io.descriptor = descriptor
        tree[directory].io.descriptorWasUsed = true
        while count >= limit { evict(in: &tree) }
        count += 1
        if let slot = free.popLast() {
            slots[slot] = directory
            tree[directory].io.descriptorSlot = slot
        } else {
            tree[directory].io.descriptorSlot = slots.count
            slots.append(directory)
        }
    }

    /// Changes the limit, and evicts directories in excess of it.
    mutating func setLimit(_ limit: Int, in tree: inout Tree) {
        self.limit = max(DescriptorBudget.leastDirectories, limit)
        while count > self.limit { evict(in: &tree) }
    }

    mutating func remove(_ directory: Node, in tree: inout Tree) {
        let slot = tree[directory].io.descriptorSlot
        guard slot >= 0 else { return }
        slots[slot] = nil
        free.append(slot)
        count -= 1
        tree[directory].io.descriptorSlot = -1
        tree[directory].io.descriptor = nil
    }

    mutating func removeAll(in tree: inout Tree) {
        for case let directory? in slots { remove(directory, in: &tree) }
    }

    /// Evicts the first directory that has not been used since the hand last passed it.
    private mutating func evict(in tree: inout Tree) {
        while true {
            hand = (hand + 1) % slots.count
            guard let directory = slots[hand] else { continue }
            if !tree[directory].io.descriptorWasUsed { return remove(directory, in: &tree) }
            tree[directory].io.descriptorWasUsed = false
        }
    }
}
