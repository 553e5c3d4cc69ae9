import PurgeModel

// Files that belong to a policy. A node under none has no trace of one, and is passed over at once.
extension PolicySet {
    /// A directory's policy, and what the files that belong to it use.
    public func use(
        of index: PolicyIndex
    ) -> (policy: DirectoryPolicy, used: ByteCount, files: Int64) {
        (index.policy, index.used, index.files)
    }

    /// The file counts, and so belongs to the policy of a directory above it.
    mutating func join(_ node: Node) {
        guard let parent = node.parent, parent.flags.isUnderPolicy, !node.flags.isUnderPolicy else { return }
        guard !node.hasSeveralNames, !node.flags.contains(.linkedOutside), let index = parent.nearestPolicy
        else { return }
        node.flags.policy = .under
        noteJoined(node, index)
        add(node.blocks, files: 1, to: index)
    }

    /// The end of `join`, while the file is still where it was.
    mutating func leave(_ node: Node) {
        guard let index = index(of: node) else { return }
        unlist(node, in: index)
        node.flags.policy = .none
        noteLeft(node, index)
        add(-node.blocks, files: -1, to: index)
    }

    /// The file was closed, or is not held any more, so the policy may take it now, unless anything else is in the way.
    mutating func noteRelease(_ node: Node) {
        guard let index = index(of: node), index.lists(node) else { return }
        index.noteRelease(node)
        update(index)
    }

    /// A file has more blocks, or fewer. New ones may set the policy off.
    mutating func add(_ blocks: Int64, of node: Node) {
        guard let index = index(of: node) else { return }
        add(blocks, to: index, isWrite: blocks > 0)
    }

    /// If the policy may take the file now, it is listed there.
    mutating func list(_ node: Node) {
        guard node.flags.policy == .under, let index = index(of: node), node.verdict(for: .room).admitsPolicy
        else { return }
        node.flags.policy = PolicyStanding(list(node, in: index))
    }

    /// The policy may not take it any more.
    mutating func unlist(_ node: Node) {
        guard let index = index(of: node) else { return }
        unlist(node, in: index)
        node.flags.policy = .under
    }

    /// That to which a file belongs.
    private func index(of node: Node) -> PolicyIndex? {
        node.flags.isUnderPolicy && node.isRegular ? node.parent?.nearestPolicy ?? left : nil
    }
}
