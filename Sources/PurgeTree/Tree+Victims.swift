import PurgeModel

// Which files a purge takes, and in which order.
extension Tree {
    /// Removes the next victim in an order, of one step or of any. A rank is passed over once its least recently used
    /// file was used within `spared`.
    public mutating func popVictim(
        step: PurgeStep?, spared: ClosedRange<Instant>? = nil, in order: PurgeOrder = .documented
    ) -> Victim<Node>? {
        counted.queue.popFirst(step: step, spared: spared, in: order)
    }

    /// The same for a group that a purge has begun, of ranks in the same step and urgency.
    public mutating func popVictim(
        ofGroup directory: Node, ranks: [PurgeRank], spared: ClosedRange<Instant>
    ) -> Victim<Node>? {
        guard let rank = ranks.first, let unit = directory.knownUnit(rank) else { return nil }
        return counted.queue.popFirst(of: unit, ranks: ranks, spared: spared)
    }

    /// All files that may be purged, by directory and rank.
    public var victims: [VictimList] { counted.queue.lists }

    /// The files of a list, in no particular order, and the unit with which they are purged. An empty list has none.
    public func files(of list: VictimList) -> (nodes: [Node], unit: (VictimUnit, age: PurgeAge)?) {
        (list.nodes, list.unit.map { ($0, $0.age) })
    }

    /// A purge has chosen the file: from here on it counts in no number, and its name is about to be removed. A file that
    /// keeps its name is held by the purge: other calls wait for that to end.
    public mutating func choose(_ node: Node) {
        node.flags.insert(.purging)
        counted.withdraw(node)
        if node.leavesTombstone { node.holds += 1 }
    }

    /// A chosen file counts again: the purge does not take place, or it has emptied the file. One that is stuck is not
    /// chosen again.
    public mutating func reinstate(_ node: Node, isStuck: Bool = false, isEmptied: Bool = false) {
        node.flags.remove(.purging)
        node.flags.set(.stuck, to: isStuck)
        if isEmptied { node.blocks = 0 }
        if isEmptied { node.part?.extents = nil }
        // Only the purge has held it: nothing else can hold a file that is chosen.
        node.holds = 0
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
