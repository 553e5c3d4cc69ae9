import PurgeModel
import PurgeTree

// Placement: tier and inherited marks follow from the names.
extension VolumeState {
    /// What an entry called `name` has by being in `directory`.
    private func place(named name: Name, in directory: Node) -> NamePlace {
        let isLibrary = directory.parent.map { $0.parent == nil && directory.name.isEqual(to: "Library") } ?? false
        let tier = Tier.ofEntry(
            named: name.isEqual, parent: directory.standing.tier, parentIsRoot: directory.parent == nil,
            parentIsLibrary: isLibrary)
        return NamePlace(tier: tier, isExcluded: directory.standing.isExcluded)
    }

    private func standing(of node: Node) -> Standing {
        let excludesItself = node.flags.contains(.ownExclusion)
        if let names = node.part?.names {
            // Several names: the most durable tier, its own mark alone, excluded only if each is.
            return Standing(
                tier: names.tier, mark: node.ownMark.mark, isExcluded: excludesItself || names.isExcluded)
        }
        guard let parent = node.parent else {
            // The root, or a file without a name, which keeps what it had last.
            return node.isDirectory && !node.flags.contains(.unlinked)
                ? Standing(tier: .persistent, mark: node.ownMark.mark, isExcluded: excludesItself) : node.standing
        }
        let place = place(named: node.name, in: parent)
        return Standing(
            tier: place.tier, mark: node.ownMark.mark ?? parent.standing.mark,
            isExcluded: excludesItself || place.isExcluded)
    }

    /// Brings the node's standing, and that of all below it, in line with names and marks.
    mutating func place(_ node: Node) {
        guard node.isDirectory else { return settle(node) }
        var pending = [node]
        while let directory = pending.popLast() {
            let new = standing(of: directory)
            let isUnchanged = new == directory.standing
            directory.standing = new
            // Library moving changes what `Caches` below it means, though not its own standing.
            guard !isUnchanged || directory === node, let part = directory.part else { continue }
            for (name, child) in part.entries {
                if child.isDirectory {
                    pending.append(child)
                } else {
                    replace(Dentry(directory: directory, name: name), of: child)
                    settle(child)
                }
            }
        }
    }

    /// Standing of what is no directory.
    private mutating func settle(_ node: Node) {
        let new = standing(of: node)
        guard new != node.standing else { return offer(node) }
        let wasCounted = node.flags.contains(.counted)
        if wasCounted { withdraw(node) }
        node.standing = new
        if wasCounted { enter(node) }
    }

    /// Counts a name of a file with several names where it is now.
    private func replace(_ dentry: Dentry, of node: Node) {
        guard node.hasSeveralNames else { return }
        node.part?.names?.set(dentry, to: place(named: dentry.name, in: dentry.directory))
    }
}

// Names come, go and move; the tree's entries are the caller's to change.
extension VolumeState {
    /// One more name for a file that has one.
    mutating func addName(_ dentry: Dentry, to node: Node) {
        guard let first = node.parent else { return }
        withdraw(node)
        let part = node.ensuredPart
        if part.names == nil {
            part.names = NodeNames()
            replace(Dentry(directory: first, name: node.name), of: node)
        }
        replace(dentry, of: node)
        settle(node)
        enter(node)
    }

    /// One name less for a file that has several.
    mutating func removeName(_ dentry: Dentry, from node: Node) {
        withdraw(node)
        node.part?.names?.remove(dentry)
        guard let names = node.part?.names, let other = names.any else { return }
        if names.count == 1 || (node.parent === dentry.directory && node.name == dentry.name) {
            node.parent = other.directory
            node.name = other.name
        }
        if names.count == 1 { node.part?.names = nil }
        settle(node)
        enter(node)
    }

    /// A name is another now: tiers of all below follow in the same step.
    mutating func moveName(of node: Node, from old: Dentry, to new: Dentry) {
        // A victim is listed by its directory.
        let wasCounted = node.flags.contains(.counted)
        withdraw(node)
        if node.isDirectory { queue.pathsHaveChanged() }
        if node.parent === old.directory && node.name == old.name {
            node.parent = new.directory
            node.name = new.name
        }
        if node.hasSeveralNames {
            node.part?.names?.remove(old)
            replace(new, of: node)
        }
        place(node)
        if wasCounted { enter(node) }
    }
}
