import PurgeSystem

/// The directories whose descriptors are kept open: a bounded set, with the clock algorithm.
struct DescriptorRing {
    private var slots: [Node?] = []
    private var free: [Int] = []
    private var hand = 0
    private let limit: Int

    init(limit: Int) { self.limit = max(8, limit) }

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
        if let slot = free.popLast() {
            slots[slot] = directory
            part.descriptorSlot = slot
        } else if slots.count < limit {
            part.descriptorSlot = slots.count
            slots.append(directory)
        } else {
            part.descriptorSlot = evict()
            slots[part.descriptorSlot] = directory
        }
    }

    mutating func remove(_ directory: Node) {
        guard let part = directory.part, part.descriptorSlot >= 0 else { return }
        slots[part.descriptorSlot] = nil
        free.append(part.descriptorSlot)
        part.descriptorSlot = -1
        part.descriptor = nil
    }

    /// Makes room by dropping the first directory that was not used since the hand last passed.
    private mutating func evict() -> Int {
        while true {
            hand = (hand + 1) % slots.count
            guard let part = slots[hand]?.part else { return hand }
            if part.descriptorWasUsed {
                part.descriptorWasUsed = false
            } else {
                part.descriptor = nil
                part.descriptorSlot = -1
                return hand
            }
        }
    }
}
