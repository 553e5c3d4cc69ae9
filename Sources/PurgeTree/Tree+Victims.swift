import PurgeModel

// Which files a purge takes, and in which order.
extension Tree {
    /// Removes the next victim in an order, of one step or of any. A rank is passed over once its least recently used file was used
    /// within `spared`.
    public mutating func popVictim(
        step: PurgeStep?, spared: ClosedRange<Instant>? = nil, in order: PurgeOrder = .documented
    ) -> PurgeCandidate<Node>? {
        counted.queue.popFirst(step: step, spared: spared, in: order)
    }

    /// All files that may be purged, by directory and rank.
    public var victims: [VictimGroup] { counted.queue.groups }

    /// A purge has chosen the file: from here on it counts in no number, and its name is about to be removed.
    public mutating func choose(_ node: Node) {
        node.flags.insert(.purging)
        counted.withdraw(node)
    }

    /// The purge does not take place. A file that is stuck is not chosen again.
    public mutating func reinstate(_ node: Node, isStuck: Bool = false) {
        node.flags.remove(.purging)
        if isStuck { node.flags.insert(.stuck) }
        counted.enter(node)
        counted.endings.insert(.purge)
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
        counted.endings.insert(.purge)
    }

    /// The file has a name outside of the container.
    public mutating func noteLinkedOutside(_ node: Node) {
        counted.retract(node)
        counted.policies.leave(node)
        node.flags.insert(.linkedOutside)
    }
}
