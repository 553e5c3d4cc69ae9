import PurgeModel

// Which files a purge takes, and in which order.
extension Tree {
    /// Counts the file as reclaimable if purging it would really free its bytes, and adds it to the victims unless it
    /// is held.
    mutating func offer(_ node: Node) {
        guard node.flags.contains(.counted) else { return }
        let verdict = node.verdict(for: .room)
        guard verdict.isReclaimable else { return }
        if !node.flags.contains(.reclaimable) {
            node.flags.insert(.reclaimable)
            accounts[of: node].offer(node.charged)
            if node.holds > 0 { accounts[of: node].hold(node.charged) }
        }
        if let rank = verdict.rank { queue.insert(node, rank: rank) }
    }

    /// The file is no longer reclaimable.
    mutating func retract(_ node: Node) {
        guard node.flags.contains(.reclaimable) else { return }
        queue.remove(node)
        node.flags.remove(.reclaimable)
        if node.holds > 0 { noteReleased(node) }
        accounts[of: node].retract(node.charged)
    }

    /// Something that the rule of purging depends on has changed with time.
    public mutating func judgeAnew(_ node: Node) {
        retract(node)
        offer(node)
    }

    /// Removes the next victim, of one step or of any. A rank is passed over once its least recently used file was used
    /// within `spared`.
    public mutating func popVictim(
        step: PurgeStep?, spared: ClosedRange<Instant>? = nil
    ) -> PurgeCandidate<Node>? {
        queue.popFirst(step: step, spared: spared)
    }

    /// All files that may be purged, by directory and rank.
    public var victims: [VictimGroup] { queue.groups }

    /// A purge has chosen the file: from here on it counts in no number, and its name is about to be removed.
    public mutating func choose(_ node: Node) {
        node.flags.insert(.purging)
        withdraw(node)
    }

    /// The purge does not take place. A file that is stuck is not chosen again.
    public mutating func reinstate(_ node: Node, isStuck: Bool = false) {
        node.flags.remove(.purging)
        if isStuck { node.flags.insert(.stuck) }
        enter(node)
        endings.insert(.purge)
    }

    /// A chosen file has been removed from the store.
    public mutating func detach(_ node: Node, from dentry: Dentry) {
        if dentry.node === node { dentry.directory.part?.entries[dentry.name] = nil }
        node.parent = nil
        node.flags.insert(.unlinked)
        node.flags.remove(.purging)
        node.blocks = 0
        node.part?.extents = nil
        uses.noteGone(node)
        endings.insert(.purge)
    }

    /// The file has a name outside of the container.
    public mutating func noteLinkedOutside(_ node: Node) {
        retract(node)
        node.flags.insert(.linkedOutside)
    }
}
