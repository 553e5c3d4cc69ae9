import PurgeModel

// Policies of directories. A file that counts in the ledger and has one name belongs to that of the nearest directory
// above it that has one.
extension Tree {
    /// Tells the time: files that have reached an age, or are over a size, get the rank that they have now. At most
    /// `limit` of them; returns whether there are more. Before anything is chosen, no more may be left. The age of files
    /// in `tmp` is looked at if the profile, or the caller, asks for it.
    public mutating func advance(to now: Instant, limit: Int = .max, ages: Bool = false) -> Bool {
        counted.policies.tell(now)
        if ages || device.profile.agesTemporary { counted.lastUseOfAged = PurgeRule.lastUseOfAged(at: now) }
        var left = limit
        while left > 0 {
            left -= 1
            if counted.moveAged() { continue }
            guard let (node, breach) = counted.policies.moveNext() else { return false }
            node.flags.policy = PolicyStanding(breach)
            counted.queue.move(node)
        }
        return true
    }

    /// Whether `advance` has nothing to do at this moment.
    public func isSettled(at now: Instant, ages: Bool = false) -> Bool {
        let young = counted.queue.firstYoung(usedUntil: PurgeRule.lastUseOfAged(at: now))
        return counted.policies.isSettled(at: now) && (young == nil || !ages && !device.profile.agesTemporary)
    }
}

/// Files below a directory that leave a policy and may come under another one, because the directory is moved, or gets or
/// loses a policy of its own: those that have no other directory with a policy in between.
struct PolicyMove {
    private let directory: Node
    private var files: [(node: Node, breach: PolicyBreach?)] = []

    /// A directory gets another policy; nil or an empty one removes it. One that is removed, and only open, has none.
    static func set(_ policy: DirectoryPolicy?, of directory: Node, _ tree: inout Tree) {
        let policy = policy.flatMap { $0.isEmpty || directory.isUnlinked ? nil : $0 }
        guard let index = directory.part?.policy else {
            if let policy { add(policy, to: directory, &tree) }
            return
        }
        guard let policy else { return remove(index, &tree) }
        // What belongs to it stays.
        for node in tree.counted.policies.restart(index, with: policy) {
            node.flags.policy = .under
            tree.counted.queue.move(node)
        }
    }

    /// The directory gets a policy of its own.
    private static func add(_ policy: DirectoryPolicy, to directory: Node, _ tree: inout Tree) {
        let move = PolicyMove(of: directory, &tree)
        let index = PolicyIndex(directory: directory, policy: policy)
        directory.ensuredPart.policy = index
        tree.counted.policies.insert(index)
        move.end(&tree)
    }

    /// The directory loses its policy.
    private static func remove(_ index: PolicyIndex, _ tree: inout Tree) {
        let move = PolicyMove(of: index.directory, &tree)
        tree.counted.policies.remove(index)
        index.directory.part?.policy = nil
        move.end(&tree)
    }

    /// From here on they belong to no policy.
    init(of directory: Node, _ tree: inout Tree) {
        self.directory = directory
        for folder in directory.foldersUnderSamePolicy {
            for node in folder.entries.values where node.isRegular {
                files.append((node, node.flags.policy.breach))
                tree.counted.policies.leave(node)
            }
        }
    }

    /// They belong to the policy that is above them now. Of those whose rank stays, the place among the victims does.
    func end(_ tree: inout Tree) {
        let nearest = directory.part?.policy ?? directory.parent?.nearestPolicy
        for folder in directory.foldersUnderSamePolicy { folder.nearestPolicy = nearest }
        for (node, breach) in files {
            if node.flags.contains(.counted) {
                tree.counted.policies.join(node)
                tree.counted.policies.list(node)
            }
            if node.flags.policy.breach != breach { tree.counted.queue.move(node) }
        }
    }
}

extension Node {
    /// The policy to which files in this directory belong: its own, or that of the nearest directory above it that has one.
    public internal(set) var nearestPolicy: PolicyIndex? {
        get { part?.nearestPolicy }
        set {
            if newValue != nil { ensuredPart.nearestPolicy = newValue } else { part?.nearestPolicy = nil }
            flags.policy = newValue == nil ? .none : .under
        }
    }

    /// Its own.
    public var policy: DirectoryPolicy? { part?.policy?.policy }

    /// Whether files below it come under another policy when it is moved to another directory.
    func changesPolicy(in parent: Node) -> Bool {
        part?.policy == nil && self.parent?.nearestPolicy !== parent.nearestPolicy
    }

    /// Itself and the directories below it, except for those with a policy of their own and what is in them.
    fileprivate var foldersUnderSamePolicy: [Node] {
        var folders = [self]
        var at = 0
        while at < folders.count {
            folders += folders[at].entries.values.filter { $0.isDirectory && $0.part?.policy == nil }
            at += 1
        }
        return folders
    }
}
