import PurgeTree

/// A change of names by a call that has not been answered yet.
public struct UnansweredChange: Sendable {
    /// The file that gets the name `to`.
    let file: Node
    /// Its previous name; nil if the change adds a name.
    let from: Dentry?
    let to: Dentry
    let exchanges: Bool

    public init(_ file: Node, from: Dentry?, to: Dentry, exchanges: Bool) {
        (self.file, self.from, self.to, self.exchanges) = (file, from, to, exchanges)
    }
}

extension Sequence<UnansweredChange> {
    /// Returns the path of a node from before those of the changes that have happened. The kernel locks the directories of a
    /// change until it is answered, so at most one of the changes concerns a name.
    func path(of node: Node, _ state: borrowing VolumeState) -> [Name] {
        var before: [Dentry: Dentry?] = [:]
        for change in self where state[change.to.directory].entry(named: change.to.name) === change.file {
            if let from = change.from {
                before[change.to] = from
                if change.exchanges { before[from] = change.to }
            } else if state[change.file].nameCount == 1 {
                before[change.to] = .some(nil)
            }
        }
        if before.isEmpty { return state[node].path() }
        var path: [Name] = []
        var next = node
        // Even changes that cannot be true end.
        while path.count < 10_000, let directory = state[next].parent {
            var dentry = Dentry(directory: directory, name: state[next].name)
            if let previous = before[dentry] {
                guard let previous else { return [] }
                dentry = previous
            }
            path.append(dentry.name)
            next = dentry.directory
        }
        return path.reversed()
    }
}
