import PurgeModel

/// Directories whose entries are pending an update, because the directory's standing, policy or group has changed.
///
/// Until an entry is visited, it counts and may be purged as before. A directory that is out of line with the one above it is
/// in this queue, or is a pending entry of a directory in the queue. So once the queue is empty, everything follows from names
/// and attributes.
struct Placement: Sendable {
    /// Largest number of entries that one call of `proceed` visits.
    var step = 1000
    private var folders: [Node] = []
    private var visit: FolderVisit?
    /// Directories that were removed while updates were pending. Files moved out of a directory may still be in its units.
    private var removed: [Node] = []

    var isDone: Bool { visit == nil && folders.isEmpty }

    /// Updates the standing and the group of a directory from its own attributes and the directory above it. Queues its entries
    /// for a visit if the standing, the group or the policy has changed.
    mutating func review(_ directory: Node) {
        let (standing, group) = (directory.standingByNames, directory.groupByNames)
        guard
            standing != directory.standing || group !== directory.nearestGroup
                || directory.policyByNames !== directory.nearestPolicy
        else { return }
        if directory.isUnlinked { return }
        directory.standing = standing
        if group !== directory.nearestGroup { directory.nearestGroup = group }
        folders.append(directory)
    }

    /// Records the removal of a directory, which has no entries.
    mutating func noteRemoved(_ directory: Node) {
        directory.nearestPolicy = nil
        directory.nearestGroup = nil
        if isDone { directory.part?.units = [] } else { removed.append(directory) }
    }

    /// Visits the next entries, at most `step` of them.
    mutating func proceed(_ files: inout CountedFiles) {
        if isDone { return }
        var left = step
        while left > 0, var visit = nextVisit(&files) {
            while left > 0, let (name, node) = visit.next() {
                left -= 1
                if visit.leavesPolicy {
                    leavePolicy(node, of: visit, &files)
                } else {
                    place(node, name, in: visit, &files)
                }
            }
            left -= 1
            if visit.isOver { end(visit, &files) } else { self.visit = visit }
        }
        guard isDone else { return }
        for directory in removed { directory.part?.units = [] }
        removed = []
    }

    private mutating func nextVisit(_ files: inout CountedFiles) -> FolderVisit? {
        if let visit {
            self.visit = nil
            return visit
        }
        guard let directory = folders.popLast() else { return nil }
        let (old, new) = (directory.nearestPolicy, directory.policyByNames)
        if old === new { return FolderVisit(directory, changesPolicy: false) }
        directory.nearestPolicy = old == nil ? new : nil
        files.policies.left = old
        return FolderVisit(directory, leavesPolicy: old != nil, changesPolicy: true)
    }

    private mutating func end(_ visit: FolderVisit, _ files: inout CountedFiles) {
        guard visit.leavesPolicy else { return }
        files.policies.left = nil
        visit.directory.nearestPolicy = visit.directory.policyByNames
        self.visit = FolderVisit(visit.directory, changesPolicy: true)
    }

    /// Removes a file from its policy. A file that was moved elsewhere in the meantime has left it already.
    private func leavePolicy(_ node: Node, of visit: FolderVisit, _ files: inout CountedFiles) {
        guard node.isRegular, node.parent === visit.directory else { return }
        let breach = node.flags.policy.breach
        files.policies.leave(node)
        if breach != nil { files.queue.move(node) }
    }

    private mutating func place(_ node: Node, _ name: Name, in visit: FolderVisit, _ files: inout CountedFiles) {
        if node.isDirectory { return review(node) }
        if node.hasSeveralNames {
            let dentry = Dentry(directory: visit.directory, name: name)
            // The file may have lost this name in the meantime.
            if dentry.node === node { node.countName(dentry) }
        }
        if visit.changesPolicy, node.flags.contains(.counted) { files.policies.join(node) }
        files.settle(node)
        if visit.changesGroup || node.flags.policy.breach != nil { files.queue.move(node) }
    }
}

/// A visit to the entries of one directory.
private struct FolderVisit: Sendable {
    let directory: Node
    /// The entries at the beginning of the visit. Entries added later already have the directory's new values.
    private let entries: [Name: Node]
    private var index: Dictionary<Name, Node>.Index
    /// Whether the files leave their old policy. All of them are then visited once more.
    let leavesPolicy: Bool
    /// Whether the files get another policy, or none.
    let changesPolicy: Bool
    /// Whether the victims get another group, or none.
    let changesGroup: Bool

    init(_ directory: Node, leavesPolicy: Bool = false, changesPolicy: Bool) {
        self.directory = directory
        entries = directory.entries
        index = entries.startIndex
        (self.leavesPolicy, self.changesPolicy) = (leavesPolicy, changesPolicy)
        changesGroup = directory.hasVictimsOfOtherGroup
    }

    var isOver: Bool { index == entries.endIndex }

    mutating func next() -> (Name, Node)? {
        if isOver { return nil }
        defer { entries.formIndex(after: &index) }
        return entries[index]
    }
}
