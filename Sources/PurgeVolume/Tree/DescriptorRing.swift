import PurgeSystem

/// The directories whose descriptors are kept open: a bounded set, with the clock algorithm.
struct DescriptorRing {
    private var slots: [Node?] = []
    private var free: [Int] = []
    private var hand = 0
    /// Directories that are in the ring.
    private(set) var count = 0
    private(set) var limit: Int

    init(limit: Int) { self.limit = max(DescriptorBudget.leastDirectories, limit) }

    /// The cached descriptor, marked as used.
    func descriptor(of directory: Node) -> FileDescriptor? {
        guard let part = directory.part, let descriptor = part.descriptor else { return nil }
        part.descriptorWasUsed = true
        return descriptor
    }

    mutating func insert(_ descriptor: FileDescriptor, of directory: Node) {
        let part = directory.ensuredPart
        guard part.descriptor == nil else { return }
        part.descriptor = descriptor
        part.descriptorWasUsed = true
        while count >= limit { evict() }
        count += 1
        if let slot = free.popLast() {
            slots[slot] = directory
            part.descriptorSlot = slot
        } else {
            part.descriptorSlot = slots.count
            slots.append(directory)
        }
    }

    /// From now on there are at most `limit`.
    mutating func setLimit(_ limit: Int) {
        self.limit = max(DescriptorBudget.leastDirectories, limit)
        while count > self.limit { evict() }
    }

    mutating func remove(_ directory: Node) {
        guard let part = directory.part, part.descriptorSlot >= 0 else { return }
        slots[part.descriptorSlot] = nil
        free.append(part.descriptorSlot)
        count -= 1
        part.descriptorSlot = -1
        part.descriptor = nil
    }

    /// Drops the first directory that was not used since the hand last passed.
    private mutating func evict() {
        while true {
            hand = (hand + 1) % slots.count
            guard let directory = slots[hand], let part = directory.part else { continue }
            if !part.descriptorWasUsed { return remove(directory) }
            part.descriptorWasUsed = false
        }
    }
}
