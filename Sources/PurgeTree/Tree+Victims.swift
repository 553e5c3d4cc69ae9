import PurgeModel

// The files that a purge takes, and their order.
extension Tree {
    /// Removes and returns the next victim in `order`: of all steps, or of `step`, which includes files of that place that are
    /// over a policy. A rank or unit is skipped once its least recently used file was used within `spared`. Returns nil if a
    /// folder that goes as a whole comes next.
    public mutating func popVictim(
        step: PurgeStep?, spared: ClosedRange<Instant>? = nil, in order: PurgeOrder = .documented
    ) -> Victim<Node>? {
        counted.queue.popFirst(step: step, spared: spared, in: order)
    }

    /// Returns the folder that goes as a whole, if it comes next in `order`.
    public mutating func nextFolder(
        spared: ClosedRange<Instant>? = nil, in order: PurgeOrder
    ) -> WholeFolder? {
        counted.queue.nextFolder(spared: spared, in: order)
    }

    /// Removes and returns the next victim of a group that a purge has begun. All `ranks` have the same step and urgency.
    public mutating func popVictim(
        ofGroup directory: Node, ranks: [PurgeRank], spared: ClosedRange<Instant>
    ) -> Victim<Node>? {
        guard let rank = ranks.first, let unit = directory.knownUnit(rank) else { return nil }
        return counted.queue.popFirst(of: unit, ranks: ranks, spared: spared)
    }

    /// All files that may be purged, by directory and rank.
    public var victims: [VictimList] { counted.queue.lists }

    /// Returns the files of a list, in no particular order, and the unit with which they are purged. An empty list has no
    /// unit.
    public func files(of list: VictimList) -> (nodes: [Node], unit: (VictimUnit, age: PurgeAge)?) {
        (list.nodes, list.unit.map { ($0, $0.age) })
    }

    /// Marks a file as chosen by a purge: it no longer counts in any number. A file that leaves a tombstone keeps its name, and
    /// the purge holds the file, so other calls wait until the purge ends.
    public mutating func choose(_ node: Node) {
        node.flags.insert(.purging)
        counted.withdraw(node)
        if node.leavesTombstone { node.holds += 1 }
    }

    /// Counts a chosen file again: the purge was called off, failed to remove or truncate the file (`isStuck`), or has
    /// truncated it (`isEmptied`). A stuck file is chosen again only by a command that names it.
    public mutating func reinstate(_ node: Node, isStuck: Bool = false, isEmptied: Bool = false) {
        node.flags.remove(.purging)
        node.flags.set(.stuck, to: isStuck)
        if isEmptied { node.blocks = 0 }
        if isEmptied { node.part?.extents = nil }
        // Only the purge can hold a file that is chosen.
        node.holds = 0
        counted.enter(node)
        counted.endings.insert(.purge)
    }

    /// Removes a chosen file from the tree after it was removed from the store.
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

    /// Records that the file has a name outside the container.
    public mutating func noteLinkedOutside(_ node: Node) {
        counted.retract(node)
        counted.policies.leave(node)
        node.flags.insert(.linkedOutside)
    }
}
