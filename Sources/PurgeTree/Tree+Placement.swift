import PurgeModel

// Tier, mark and exclusion follow from the names, and from the attributes of the entry and the directories above it.
extension Tree {
    /// Sets an attribute of the entry itself.
    public mutating func set(_ attribute: OwnAttribute, of node: Node) {
        switch attribute {
        case .mark(let mark): node.ownMark = PackedMark(mark)
        case .exclusion(let isExcluded): node.flags.set(.ownExclusion, to: isExcluded)
        case .protection(let protection):
            // No number depends on the protection class.
            node.flags.protection = protection
            return
        case .policy(let policy): counted.setPolicy(policy, of: node, atOnce: placement.step)
        case .behaviour(let behaviour): setBehaviour(behaviour, of: node)
        }
        place(node)
        if node.isDirectory { place() }
    }

    /// Updates an entry from names and attributes. Entries below a directory stay pending (`isPlaced`).
    mutating func place(_ node: Node) {
        if node.isDirectory { placement.review(node) } else { counted.settle(node) }
    }

    /// Whether every entry is up to date with names and attributes. Otherwise `place` continues with the pending entries.
    public var isPlaced: Bool { placement.isDone }

    /// Updates some of the pending entries below directories that have changed.
    public mutating func place() { placement.proceed(&counted) }

    /// Gives a new directory, which has no entries, the values that follow from its attributes and the directory above it.
    mutating func takePlace(_ directory: Node, _ policy: DirectoryPolicy?) {
        counted.setPolicy(policy, of: directory, atOnce: 0)
        if let policy = directory.policyByNames { directory.nearestPolicy = policy }
        if let group = directory.groupByNames { directory.nearestGroup = group }
        directory.standing = directory.standingByNames
    }
}

extension CountedFiles {
    /// Updates the standing of a node other than a directory.
    mutating func settle(_ node: Node) {
        let new = node.standingByNames
        guard new != node.standing else { return offer(node) }
        let wasCounted = node.flags.contains(.counted)
        if wasCounted { withdraw(node) }
        node.standing = new
        if wasCounted { enter(node) }
    }
}

/// An attribute set on the entry itself, not inherited from a directory.
public enum OwnAttribute: Sendable {
    /// The value of isPurgeable.
    case mark(PurgeMark?)
    /// The value of isExcludedFromBackup.
    case exclusion(Bool)
    /// The value of fileProtection.
    case protection(FileProtection?)
    /// A directory's values of purgeAfter and sizeLimit.
    case policy(DirectoryPolicy?)
    /// A directory's values of purgeGroup and purgeTombstone.
    case behaviour(PurgeBehaviour)
}

extension Dentry {
    /// The place of the entry, which follows from its name and the place of its directory.
    fileprivate var place: Place { directory.standing.place.entry(isNamed: name.isEqual) }
}

extension Node {
    /// The standing that follows from the node's names, its own attributes and the directories above it.
    var standingByNames: Standing {
        let excludesItself = flags.contains(.ownExclusion)
        if let names = part?.names {
            // A hard-linked file has the most durable tier of its names, and no mark but its own. Unless excluded itself, it
            // is excluded only if every name is. It is not purged, so it leaves no tombstone.
            return Standing(
                place: Place(names.tier), mark: ownMark.mark, isExcluded: excludesItself || names.isExcluded)
        }
        guard let parent else {
            // The root of a container. A node without a name keeps its last standing.
            return isUnlinked || !isDirectory
                ? standing
                : Standing(
                    place: .root, mark: ownMark.mark, isExcluded: excludesItself,
                    leavesTombstone: ownTombstones ?? false)
        }
        return Standing(
            place: Dentry(directory: parent, name: name).place, mark: ownMark.mark ?? parent.standing.mark,
            isExcluded: excludesItself || parent.standing.isExcluded,
            leavesTombstone: ownTombstones ?? parent.standing.leavesTombstone)
    }

    private var ownTombstones: Bool? { isDirectory ? part?.behaviour.leavesTombstones : nil }

    /// Counts a name of a hard-linked file by its current place.
    func countName(_ dentry: Dentry) {
        guard hasSeveralNames else { return }
        part?.names?.set(
            dentry, to: NamePlace(tier: dentry.place.tier, isExcluded: dentry.directory.standing.isExcluded))
    }
}
