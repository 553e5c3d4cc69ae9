import PurgeModel

// Adding, removing and moving names. Everything that depends on the entry's name is updated in the same step. Entries below a
// directory may follow later (Tree+Placement.swift).
extension Tree {
    /// Inserts a new entry into a directory, under the node's name.
    public mutating func insert(_ node: Node, in directory: Node, _ facts: EntryFacts = EntryFacts()) {
        node.take(facts)
        node.container = directory.container
        node.parent = directory
        directory.ensuredPart.entries[node.name] = node
        if node.isDirectory { return takePlace(node, facts.policy) }
        counted.settle(node)
        counted.enter(node)
    }

    /// Inserts an empty directory that no path of a container leads to. Entries that are moved into it later keep their
    /// place.
    public mutating func insertHidden(_ directory: Node, below parent: Node, as place: Place, in root: Node) {
        parent.parent = root
        directory.container = root.container
        directory.parent = parent
        directory.standing = Standing(place: place, mark: nil, isExcluded: false)
    }

    /// Inserts a file created without a name (O_TMPFILE). It counts like an entry of `directory`.
    public mutating func insertNameless(_ node: Node, asIn directory: Node, _ facts: EntryFacts) {
        node.take(facts)
        node.container = directory.container
        node.parent = directory
        counted.settle(node)
        node.parent = nil
        node.flags.insert(.unlinked)
        counted.enter(node)
    }

    /// Adds a name to a file, which may have none yet.
    public mutating func link(_ node: Node, as dentry: Dentry) {
        dentry.directory.ensuredPart.entries[dentry.name] = node
        guard node.isUnlinked else { return counted.addName(dentry, to: node) }
        counted.withdraw(node)
        node.flags.remove(.unlinked)
        node.container = dentry.directory.container
        node.parent = dentry.directory
        node.name = dentry.name
        // The journal lacks the file's uses from the time when it had no name.
        noteUse(node, at: node.lastUse)
        counted.settle(node)
        counted.enter(node)
    }

    /// Removes a name. A file without names stays charged until nothing has it open or holds it: see `close` and `unhold`.
    public mutating func unlink(_ dentry: Dentry) {
        guard let node = dentry.directory.part?.entries.removeValue(forKey: dentry.name) else { return }
        if node.hasSeveralNames { return counted.removeName(dentry, from: node) }
        counted.retract(node)
        if node.isDirectory {
            counted.setPolicy(nil, of: node, atOnce: 0)
            placement.noteRemoved(node)
        } else {
            counted.policies.leave(node)
        }
        node.parent = nil
        node.flags.insert(.unlinked)
    }

    /// Renames an entry and replaces any entry at `to`. Does nothing if both are names of the same file, as in rename(2).
    public mutating func rename(_ from: Dentry, to: Dentry) {
        guard let node = from.node, node !== to.node else { return }
        unlink(to)
        from.directory.part?.entries[from.name] = nil
        to.directory.ensuredPart.entries[to.name] = node
        moveName(of: node, from: from, to: to)
        if node.isDirectory { place() }
    }

    public mutating func exchange(_ one: Dentry, _ other: Dentry) {
        guard let node = one.node, let otherNode = other.node, node !== otherNode else { return }
        one.directory.ensuredPart.entries[one.name] = otherNode
        other.directory.ensuredPart.entries[other.name] = node
        moveName(of: node, from: one, to: other)
        moveName(of: otherNode, from: other, to: one)
        if node.isDirectory || otherNode.isDirectory { place() }
    }

    private mutating func moveName(of node: Node, from old: Dentry, to new: Dentry) {
        // A victim is listed in its directory, so it leaves the list before it moves.
        let wasCounted = node.flags.contains(.counted)
        counted.withdraw(node)
        if node.isDirectory {
            counted.queue.pathsHaveChanged()
            counted.policies.pathsHaveChanged()
        }
        if node.parent === old.directory && node.name == old.name {
            node.parent = new.directory
            node.name = new.name
        }
        if node.hasSeveralNames {
            node.part?.names?.remove(old)
            node.countName(new)
        }
        place(node)
        if wasCounted { counted.enter(node) }
    }
}

extension CountedFiles {
    fileprivate mutating func addName(_ dentry: Dentry, to node: Node) {
        guard let first = node.parent else { return }
        withdraw(node)
        let part = node.ensuredPart
        if part.names == nil {
            part.names = NodeNames()
            node.countName(Dentry(directory: first, name: node.name))
        }
        node.countName(dentry)
        settle(node)
        enter(node)
    }

    fileprivate mutating func removeName(_ dentry: Dentry, from node: Node) {
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
}
