/// A directory policy computed from docs/POLICIES.md: each query sorts all files of the directory again.
struct PolicyTable {
    /// The age in nanoseconds; nil if not set.
    var after: Int64?
    /// The limit in blocks.
    var limit: Int64?
    /// Whether use has reached the limit. Ends when use is down to half of the limit, or below the limit with no file left to
    /// take.
    var isOver = false
    /// Whether a write, a check or the release of a skipped file has found the limit reached.
    var isTriggered = false
    /// Whether the policy was triggered and use is still at the limit, but no file can be taken.
    var isExhausted = false
    var checked: Int64?

    func isReached(_ used: Int64) -> Bool { limit.map { $0 > 0 && used >= $0 } ?? false }
    func excess(_ used: Int64) -> Int64 { limit.map { $0 > 0 ? max(0, used - $0 / 2) : 0 } ?? 0 }
    func isDue(_ created: Int64, at time: Int64) -> Bool { after.map { $0 > 0 && created + $0 <= time } ?? false }
}

extension FileTable {
    /// Returns the nearest directory with a policy above a path.
    func policyFolder(of path: String) -> String? {
        var folder = parent(of: path)
        while true {
            if folders[folder]?.policy != nil { return folder }
            if folder == "" { return nil }
            folder = parent(of: folder)
        }
    }

    /// Returns the directory whose policy covers a file.
    func policyFolder(_ file: File) -> String? {
        file.paths.count == 1 && !file.isGoing && !file.isLinkedOutside ? policyFolder(of: file.paths[0]) : nil
    }

    func members(of folder: String) -> [File] { files.values.filter { policyFolder($0) == folder } }
    func used(_ folder: String) -> Int64 { members(of: folder).reduce(0) { $0 + $1.blocks } }

    /// Returns the files that the folder's policy may take, oldest first.
    private func takeable(_ folder: String) -> [File] {
        members(of: folder).filter { $0.opens == 0 && $0.holds == 0 && $0.blocks > 0 && !$0.isStuck }.sorted {
            $0.creation == $1.creation
                ? $0.paths[0].utf8.lexicographicallyPrecedes($1.paths[0].utf8) : $0.creation < $1.creation
        }
    }

    /// `age` or `size` for each path that is over a policy.
    var breaches: [String: String] {
        var found: [String: String] = [:]
        for (folder, known) in folders {
            guard let policy = known.policy else { continue }
            var missing = policy.isOver ? policy.excess(used(folder)) : 0
            for file in takeable(folder) {
                if policy.isDue(file.creation, at: time) {
                    found[file.paths[0]] = "age"
                } else if missing > 0 {
                    found[file.paths[0]] = "size"
                } else {
                    break
                }
                missing -= file.blocks
            }
        }
        return found
    }

    /// Called at the end of each operation.
    mutating func settlePolicies() {
        for (folder, known) in folders {
            guard var policy = known.policy else { continue }
            let (used, takeable) = (used(folder), takeable(folder))
            if policy.isReached(used) {
                policy.isOver = true
                if policy.isTriggered && takeable.isEmpty { (policy.isTriggered, policy.isExhausted) = (false, true) }
            } else if policy.excess(used) == 0 || takeable.isEmpty {
                (policy.isOver, policy.isTriggered, policy.isExhausted) = (false, false, false)
            }
            if let checked = policy.checked, !takeable.contains(where: { policy.isDue($0.creation, at: checked) }) {
                policy.checked = nil
            }
            folders[folder]?.policy = policy
        }
    }

    /// Called when blocks have been written to a file.
    mutating func noteWritten(_ file: File) {
        guard let folder = policyFolder(file), let policy = folders[folder]?.policy, policy.isReached(used(folder))
        else { return }
        trigger(folder)
        folders[folder]?.policy?.isOver = true
    }

    private mutating func trigger(_ folder: String) {
        folders[folder]?.policy?.isTriggered = true
        folders[folder]?.policy?.isExhausted = false
    }

    /// Called after a file is closed, or after a call that kept it from being taken ends.
    mutating func release(_ key: Int) {
        defer { dropIfGone(key) }
        guard let file = files[key], let folder = policyFolder(file), let policy = folders[folder]?.policy,
            takeable(folder).contains(where: { $0.paths == file.paths }), policy.isExhausted,
            policy.isReached(used(folder))
        else { return }
        trigger(folder)
    }

    mutating func checkPolicies() {
        for folder in folders.keys where folders[folder]?.policy != nil {
            folders[folder]?.policy?.checked = time
            if folders[folder]?.policy?.isReached(used(folder)) ?? false { trigger(folder) }
        }
    }

    /// The next file that a policy takes, and why.
    var nextPolicyVictim: (path: String, breach: String)? {
        for folder in folders.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            guard let policy = folders[folder]?.policy else { continue }
            let takeable = takeable(folder)
            if let checked = policy.checked, let file = takeable.first, policy.isDue(file.creation, at: checked) {
                return (file.paths[0], "age")
            }
            if policy.isTriggered, let file = takeable.first { return (file.paths[0], "size") }
        }
        return nil
    }
}
