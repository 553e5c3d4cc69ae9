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

extension CountedFiles {
    /// A directory gets another policy; nil or an empty one removes it. One that is removed, and only open, has none. What
    /// belongs to a known policy stays, if no more files than `atOnce` get another rank.
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
    /// The policy to which files in this directory belong: its own, or that of the nearest directory above it that has one.
    var nearestPolicy: PolicyIndex? {
        get { part?.nearestPolicy }
        set {
            if newValue != nil { ensuredPart.nearestPolicy = newValue } else { part?.nearestPolicy = nil }
            flags.policy = newValue == nil ? .none : .under
        }
    }

    /// Its own.
    var policy: DirectoryPolicy? { part?.policy?.policy }

    /// What `nearestPolicy` is where the directory is now.
    var policyByNames: PolicyIndex? { part?.policy ?? parent?.nearestPolicy }
}
