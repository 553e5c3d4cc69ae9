import PurgeModel

// Uses of a node: by descriptors, and by operations that change it.
extension Tree {
    /// One descriptor or mapping more, which is a use unless `instant` is nil.
    public mutating func open(_ node: Node, usedAt instant: Instant? = nil) {
        // While it is open it is in no step for being over a policy.
        if let instant { counted.noteUseInGroup(of: node, at: instant) }
        counted.retract(node)
        node.opens += 1
        if let instant { noteUse(node, at: instant) }
    }

    /// One less. Returns whether the file is gone now.
    public mutating func close(_ node: Node) -> Bool {
        node.opens -= 1
        guard node.opens == 0 else { return false }
        if node.isUnlinked { return letGo(node) }
        counted.offer(node)
        counted.policies.noteRelease(node)
        return false
    }

    /// From here until `unhold` no purge chooses the node, though it counts as reclaimable if it did. With `isGoing` the
    /// volume itself is about to remove a name of it, without the kernel's lock of the directory that would keep other
    /// calls from that name: until `unhold` they wait, as for a purge.
    public mutating func hold(_ node: Node, isGoing: Bool = false) {
        if node.holds == 0 { counted.hold(node) }
        node.holds += 1
        if isGoing { node.flags.insert(.purging) }
    }

    /// Returns whether a file without a name is gone now.
    public mutating func unhold(_ node: Node) -> Bool {
        node.holds -= 1
        guard node.holds == 0 else { return false }
        // No purge has chosen it, because it was held.
        if node.isGoing {
            node.flags.remove(.purging)
            counted.endings.insert(.purge)
        }
        counted.release(node)
        counted.policies.noteRelease(node)
        return node.isUnlinked && letGo(node)
    }

    /// The last name is gone; with the last use, the bytes become free.
    private mutating func letGo(_ node: Node) -> Bool {
        if node.isInUse { return false }
        counted.withdraw(node)
        uses.noteGone(node)
        node.blocks = 0
        node.part?.extents = nil
        return true
    }

    public mutating func noteUse(_ node: Node, at instant: Instant) {
        let wasOffered = node.flags.contains(.reclaimable)
        if wasOffered { counted.retract(node) }
        node.lastUse = max(node.lastUse, instant)
        uses.keep(node)
        if wasOffered { counted.offer(node) } else { counted.noteUseInGroup(of: node, at: node.lastUse) }
    }

    /// A use that has failed; `before` is the previous one. Where files are purged as one, it remains their last use.
    public mutating func takeBackUse(of node: Node, at instant: Instant, before: Instant) {
        // The file is open, so it is not among the victims, which are ordered by last use.
        if node.lastUse == instant, node.heapIndex < 0 { node.lastUse = before }
    }
}
