import PurgeModel

// Files that belong to a policy. A file's flags show whether it belongs to one, so other files are skipped without a look-up.
extension PolicySet {
    /// Returns a directory's policy, with the bytes and the number of the files that belong to it.
    public func use(
        of index: PolicyIndex
    ) -> (policy: DirectoryPolicy, used: ByteCount, files: Int64) {
        (index.policy, index.used, index.files)
    }

    /// Adds a file with one name to the policy of the nearest directory above it that has a policy.
    mutating func join(_ node: Node) {
        guard let parent = node.parent, parent.flags.isUnderPolicy, !node.flags.isUnderPolicy else { return }
        guard !node.hasSeveralNames, !node.flags.contains(.linkedOutside), let index = parent.nearestPolicy
        else { return }
        node.flags.policy = .under
        noteJoined(node, index)
        add(node.blocks, files: 1, to: index)
    }

    /// Reverts `join`. The file must still be in its old place.
    mutating func leave(_ node: Node) {
        guard let index = index(of: node) else { return }
        unlist(node, in: index)
        node.flags.policy = .none
        noteLeft(node, index)
        add(-node.blocks, files: -1, to: index)
    }

    /// Records that a file was closed or is no longer held, so the policy may take it unless something else prevents that.
    mutating func noteRelease(_ node: Node) {
        guard let index = index(of: node), index.lists(node) else { return }
        index.noteRelease(node)
        update(index)
    }

    /// Adds `blocks`, which may be negative, to the policy of the file. New blocks may trigger the policy.
    mutating func add(_ blocks: Int64, of node: Node) {
        guard let index = index(of: node) else { return }
        add(blocks, to: index, isWrite: blocks > 0)
    }

    /// Lists the file in its policy if the policy may take it now.
    mutating func list(_ node: Node) {
        guard node.flags.policy == .under, let index = index(of: node), node.verdict(for: .room).admitsPolicy
        else { return }
        node.flags.policy = PolicyStanding(list(node, in: index))
    }

    /// Removes the file from the list of its policy.
    mutating func unlist(_ node: Node) {
        guard let index = index(of: node) else { return }
        unlist(node, in: index)
        node.flags.policy = .under
    }

    /// Returns the policy to which a file belongs.
    private func index(of node: Node) -> PolicyIndex? {
        node.flags.isUnderPolicy && node.isRegular ? node.parent?.nearestPolicy ?? left : nil
    }
}
