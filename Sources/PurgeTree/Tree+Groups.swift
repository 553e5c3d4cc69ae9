import PurgeModel

// Directories that are purged as one. A file belongs to the nearest directory above it that says whether it is one, if it
// is.
extension Tree {
    /// Removes the next victim of a group that a purge has begun, of ranks in the same step and urgency; nil once there is
    /// none that was not used within `spared`.
    public mutating func popVictim(
        ofGroup directory: Node, ranks: [PurgeRank], spared: ClosedRange<Instant>
    ) -> PurgeCandidate<Node>? {
        counted.queue.popFirst(ofGroup: directory, ranks, spared: spared)
    }
}

/// Files below a directory that leave a group and may come into another one, because the directory is moved, or its own
/// value changes: those that have no other directory with a value in between.
struct GroupMove {
    private let directory: Node

    /// The directory gets other values of its own.
    static func set(_ behaviour: PurgeBehaviour, of directory: Node, _ tree: inout Tree) {
        guard directory.isDirectory else { return }
        let move = behaviour.isGroup != directory.behaviour.isGroup ? GroupMove(of: directory, &tree) : nil
        directory.take(behaviour)
        // It begins anew.
        if move != nil { directory.part?.units = [] }
        tree.place(directory)
        move?.end(&tree)
    }

    /// From here on they are in no group, and meanwhile whatever else follows from the change may reorder them.
    init(of directory: Node, _ tree: inout Tree) {
        self.directory = directory
        regroup(into: nil, &tree)
    }

    /// They are in the group that is above them now.
    func end(_ tree: inout Tree) {
        if let group = directory.groupByNames { regroup(into: group, &tree) }
    }

    private func regroup(into group: Node?, _ tree: inout Tree) {
        for folder in directory.foldersInSameGroup where folder.nearestGroup !== group {
            let victims = folder.part?.victims.flatMap(\.nodes) ?? []
            for node in victims { tree.counted.queue.remove(node) }
            folder.nearestGroup = group
            for node in victims { tree.counted.offer(node) }
        }
    }
}

extension Node {
    /// Whether files below it come into another group when it is moved to another directory.
    func changesGroup(in parent: Node) -> Bool {
        behaviour.isGroup == nil && self.parent?.nearestGroup !== parent.nearestGroup
    }

    /// What `nearestGroup` is where the directory is now.
    var groupByNames: Node? {
        guard let isGroup = behaviour.isGroup else { return parent?.nearestGroup }
        return isGroup ? self : nil
    }

    /// Itself and the directories below it, except for those with a value of their own and what is in them.
    fileprivate var foldersInSameGroup: [Node] {
        var folders = [self]
        var at = 0
        while at < folders.count {
            folders += folders[at].entries.values.filter { $0.isDirectory && $0.behaviour.isGroup == nil }
            at += 1
        }
        return folders
    }
}
