import PurgeModel

// Uses of a node: by descriptors, and by operations that change it.
extension Tree {
    /// Adds an open descriptor or mapping, which is a use unless `instant` is nil.
    public mutating func open(_ node: Node, usedAt instant: Instant? = nil) {
        // Recorded before `retract`, which clears the breach of a policy, and with it the rank by which the unit is found.
        if let instant { counted.noteUseInGroup(of: node, at: instant) }
        counted.retract(node)
        node.opens += 1
        if let instant { noteUse(node, at: instant) }
    }

    /// Drops one open count. Returns true if that released the last use of an unlinked file.
    public mutating func close(_ node: Node) -> Bool {
        node.opens -= 1
        guard node.opens == 0 else { return false }
        if node.isUnlinked { return letGo(node) }
        counted.offer(node)
        counted.policies.noteRelease(node)
        return false
    }

    /// Keeps purges from choosing the node until `unhold`; a reclaimable file still counts as reclaimable.
    ///
    /// With `isGoing`, the volume itself is about to remove a name of the node. It does so without the kernel's lock of the
    /// directory, which would keep other calls from using that name. Calls that need the name wait until `unhold`, as for a
    /// purge.
    public mutating func hold(_ node: Node, isGoing: Bool = false) {
        if node.holds == 0 { counted.hold(node) }
        node.holds += 1
        if isGoing { node.flags.insert(.purging) }
    }

    /// Drops one hold. Returns true if that released the last use of an unlinked file.
    public mutating func unhold(_ node: Node) -> Bool {
        node.holds -= 1
        guard node.holds == 0 else { return false }
        // Only `hold` can have set this flag, because no purge chooses a held node.
        if node.isGoing {
            node.flags.remove(.purging)
            counted.endings.insert(.purge)
        }
        counted.release(node)
        counted.policies.noteRelease(node)
        return node.isUnlinked && letGo(node)
    }

    /// Frees the bytes of an unlinked file, unless it is still in use. Returns whether the file is gone.
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

    /// Reverts the last use to `before`, because the use at `instant` has failed. Has no effect on a victim, or after another
    /// use. The file's group keeps the failed use as its last one.
    public mutating func takeBackUse(of node: Node, at instant: Instant, before: Instant) {
        // An open file is not among the victims, which are ordered by last use.
        if node.lastUse == instant, node.heapIndex < 0 { node.lastUse = before }
    }
}
