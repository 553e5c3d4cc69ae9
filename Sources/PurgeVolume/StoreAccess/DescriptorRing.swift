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

    /// The cached descriptor, marked as used.
    func descriptor(of directory: Node) -> FileDescriptor? {
        guard let io = directory.io, let descriptor = io.descriptor else { return nil }
        io.descriptorWasUsed = true
        return descriptor
    }

    mutating func insert(_ descriptor: FileDescriptor, of directory: Node) {
        let io = directory.ensuredIO
        guard io.descriptor == nil else { return }
        io.descriptor = descriptor
        io.descriptorWasUsed = true
        while count >= limit { evict() }
        count += 1
        if let slot = free.popLast() {
            slots[slot] = directory
            io.descriptorSlot = slot
        } else {
            io.descriptorSlot = slots.count
            slots.append(directory)
        }
    }

    /// From now on there are at most `limit` of them.
    mutating func setLimit(_ limit: Int) {
        self.limit = max(DescriptorBudget.leastDirectories, limit)
        while count > self.limit { evict() }
    }

    mutating func remove(_ directory: Node) {
        guard let io = directory.io, io.descriptorSlot >= 0 else { return }
        slots[io.descriptorSlot] = nil
        free.append(io.descriptorSlot)
        count -= 1
        io.descriptorSlot = -1
        io.descriptor = nil
    }

    mutating func removeAll() {
        for case let directory? in slots { remove(directory) }
    }

    /// Drops the first directory that has not been used since the hand last passed it.
    private mutating func evict() {
        while true {
            hand = (hand + 1) % slots.count
            guard let directory = slots[hand], let io = directory.io else { continue }
            if !io.descriptorWasUsed { return remove(directory) }
            io.descriptorWasUsed = false
        }
    }
}
