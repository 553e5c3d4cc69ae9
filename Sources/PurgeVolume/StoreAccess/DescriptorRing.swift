import PurgeSystem
import PurgeTree

/// The directories whose descriptors are kept open: a bounded set, maintained with the clock algorithm.
struct DescriptorRing {
    private var slots: [Node?] = []
    private var free: [Int] = []
    private var hand = 0
    /// How many directories are in the ring.
    private(set) var count = 0
    private(set) var limit: Int

    init(limit: Int) { self.limit = max(DescriptorBudget.leastDirectories, limit) }

    /// Keeps a descriptor of a directory open, as just used, unless there is one. Others make room.
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

    /// From now on there are at most `limit` of them.
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

    /// Drops the first directory that has not been used since the hand last passed it.
    private mutating func evict(in tree: inout Tree) {
        while true {
            hand = (hand + 1) % slots.count
            guard let directory = slots[hand] else { continue }
            if !tree[directory].io.descriptorWasUsed { return remove(directory, in: &tree) }
            tree[directory].io.descriptorWasUsed = false
        }
    }
}
