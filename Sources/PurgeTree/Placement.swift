import PurgeModel

/// Directories whose entries are still to be brought in line with them, because their standing, their policy or their group
/// has changed.
///
/// Until an entry is visited it counts, and may be purged, as before. A directory that differs from what follows from the
/// one above it is an entry of a directory in here that has not been visited since. So once this is empty, everything
/// follows from names and attributes.
struct Placement: Sendable {
    /// How many entries are visited at a time.
    var step = 1000
    private var folders: [Node] = []
    private var visit: FolderVisit?
    /// Directories that have been removed meanwhile. Files elsewhere may still be in their groups.
    private var removed: [Node] = []

    var isDone: Bool { visit == nil && folders.isEmpty }

    /// A directory gets what follows from the one above it. If anything has changed, its entries are still to be visited.
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

    /// A directory, which has no entries, has been removed.
    mutating func noteRemoved(_ directory: Node) {
        directory.nearestPolicy = nil
        directory.nearestGroup = nil
        if isDone { directory.part?.units = [] } else { removed.append(directory) }
    }

    /// Visits the next entries.
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

    /// A file that has been moved elsewhere meanwhile has left the policy already.
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
            // It may have lost this name meanwhile.
            if dentry.node === node { node.countName(dentry) }
        }
        if visit.changesPolicy, node.flags.contains(.counted) { files.policies.join(node) }
        files.settle(node)
        if visit.changesGroup || node.flags.policy.breach != nil { files.queue.move(node) }
    }
}

/// A directory whose entries are being visited.
private struct FolderVisit: Sendable {
    let directory: Node
    /// As they were at the beginning. Later ones have got what the directory has by then.
    private let entries: [Name: Node]
    private var index: Dictionary<Name, Node>.Index
    /// Its files leave the policy that they were under. After that they are all visited once more.
    let leavesPolicy: Bool
    /// Its files come under another policy, or under none.
    let changesPolicy: Bool
    /// Victims in it are in another group, or in none.
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
