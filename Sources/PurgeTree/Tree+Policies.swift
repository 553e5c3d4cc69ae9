import PurgeModel

// Policies of directories. A file that counts in the ledger and has one name belongs to the nearest policy above it.
extension Tree {
    /// Sets the tree's time, and updates the rank of at most `limit` files whose policy standing has changed. Returns false
    /// once no file is pending, and true if the limit was reached first. Called until it returns false before a purge begins.
    public mutating func advance(to now: Instant, limit: Int = .max) -> Bool {
        counted.policies.tell(now)
        var left = limit
        while left > 0 {
            left -= 1
            guard let (node, breach) = counted.policies.moveNext() else { return false }
            node.flags.policy = PolicyStanding(breach)
            counted.queue.move(node)
        }
        return true
    }

    /// Returns whether `advance` has nothing to do at `now`.
    public func isSettled(at now: Instant) -> Bool { counted.policies.isSettled(at: now) }
}

extension CountedFiles {
    /// Sets a directory's policy; nil or an empty one removes it. A removed directory that is still open has none. If at most
    /// `atOnce` files are over an existing policy, it keeps its files and only gets the new limits.
    mutating func setPolicy(_ policy: DirectoryPolicy?, of directory: Node, atOnce: Int) {
        let policy = policy.flatMap { $0.isEmpty || directory.isUnlinked ? nil : $0 }
        let old = directory.part?.policy
        guard policy != nil || old != nil else { return }
        if let old, let policy, old.filesOver <= atOnce {
            for node in policies.restart(old, with: policy) {
                node.flags.policy = .under
                queue.move(node)
            }
            return
        }
        if let old { policies.remove(old) }
        let new = policy.map { PolicyIndex(directory: directory, policy: $0) }
        directory.ensuredPart.policy = new
        if let new { policies.insert(new) }
    }
}

extension Node {
    /// The policy to which files in this directory belong: its own, or the nearest one above it.
    var nearestPolicy: PolicyIndex? {
        get { part?.nearestPolicy }
        set {
            if newValue != nil { ensuredPart.nearestPolicy = newValue } else { part?.nearestPolicy = nil }
            flags.policy = newValue == nil ? .none : .under
        }
    }

    /// The directory's own policy.
    var policy: DirectoryPolicy? { part?.policy?.policy }

    /// The `nearestPolicy` that follows from the directory's own policy and current place.
    var policyByNames: PolicyIndex? { part?.policy ?? parent?.nearestPolicy }
}
