import PurgeModel

// Tier, mark and exclusion follow from the names, and from the attributes of the entry and the directories above it.
extension Tree {
    /// The value of an attribute of the entry itself has changed.
    public mutating func set(_ attribute: OwnAttribute, of node: Node) {
        switch attribute {
        case .mark(let mark): node.ownMark = PackedMark(mark)
        case .exclusion(let isExcluded): node.flags.set(.ownExclusion, to: isExcluded)
        case .protection(let protection):
            // No number follows from it.
            node.flags.protection = protection
            return
        case .policy(let policy): counted.setPolicy(policy, of: node, atOnce: placement.step)
        case .behaviour(let behaviour): setBehaviour(behaviour, of: node)
        }
        place(node)
        if node.isDirectory { place() }
    }

    /// Brings an entry in line with names and marks; what is below a directory is still to follow (`isPlaced`).
    mutating func place(_ node: Node) {
        if node.isDirectory { placement.review(node) } else { counted.settle(node) }
    }

    /// Whether everything follows from names and attributes. Otherwise `place` goes on with that.
    public var isPlaced: Bool { placement.isDone }

    /// Visits some of the entries below directories that have changed.
    public mutating func place() { placement.proceed(&counted) }

    /// What a directory that is new, and so has no entries, gets from the one above it.
    mutating func takePlace(_ directory: Node, _ policy: DirectoryPolicy?) {
        counted.setPolicy(policy, of: directory, atOnce: 0)
        if let policy = directory.policyByNames { directory.nearestPolicy = policy }
        if let group = directory.groupByNames { directory.nearestGroup = group }
        directory.standing = directory.standingByNames
    }
}

extension CountedFiles {
    /// The standing of anything but a directory.
    mutating func settle(_ node: Node) {
        let new = node.standingByNames
        guard new != node.standing else { return offer(node) }
        let wasCounted = node.flags.contains(.counted)
        if wasCounted { withdraw(node) }
        node.standing = new
        if wasCounted { enter(node) }
    }
}

/// An attribute of an entry itself.
public enum OwnAttribute: Sendable {
    /// The value of isPurgeable.
    case mark(PurgeMark?)
    /// Whether it is excluded from backup.
    case exclusion(Bool)
    /// The value of fileProtection.
    case protection(FileProtection?)
    /// The values of purgeAfter and sizeLimit, of a directory.
    case policy(DirectoryPolicy?)
    /// The values of purgeGroup and purgeTombstone, of a directory.
    case behaviour(PurgeBehaviour)
}

extension Dentry {
    /// The directory's place, which follows from where it is.
    fileprivate var place: Place { directory.standing.place.entry(isNamed: name.isEqual) }
}

extension Node {
    /// What follows from its names, from its own attributes and from the directories above it.
    var standingByNames: Standing {
        let excludesItself = flags.contains(.ownExclusion)
        if let names = part?.names {
            // With several names: the most durable tier, only its own mark, and excluded only if each name is. It is not
            // purged, so it leaves no tombstone.
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

    /// Counts a name of a file with several names where it is now.
    func countName(_ dentry: Dentry) {
        guard hasSeveralNames else { return }
        part?.names?.set(
            dentry, to: NamePlace(tier: dentry.place.tier, isExcluded: dentry.directory.standing.isExcluded))
    }
}
