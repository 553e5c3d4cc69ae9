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
        case .policy(let policy): return PolicyMove.set(policy, of: node, &self)
        case .behaviour(let behaviour): return GroupMove.set(behaviour, of: node, &self)
        }
        place(node)
    }

    /// Brings the standing of the node, and of everything below it, in line with names and marks.
    mutating func place(_ node: Node) {
        guard node.isDirectory else { return settle(node) }
        var pending = [node]
        while let directory = pending.popLast() {
            let new = directory.standingByNames
            if new == directory.standing { continue }
            directory.standing = new
            for (name, child) in directory.entries {
                if child.isDirectory {
                    pending.append(child)
                } else {
                    child.countName(Dentry(directory: directory, name: name))
                    settle(child)
                }
            }
        }
    }

    /// The standing of anything but a directory.
    mutating func settle(_ node: Node) {
        let new = node.standingByNames
        guard new != node.standing else { return counted.offer(node) }
        let wasCounted = node.flags.contains(.counted)
        if wasCounted { counted.withdraw(node) }
        node.standing = new
        if wasCounted { counted.enter(node) }
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
    fileprivate var standingByNames: Standing {
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
