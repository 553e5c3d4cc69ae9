import PurgeModel

/// A directory with a policy, and the files that belong to the policy. These are the counted files below the directory that
/// have one name and no nearer directory with a policy.
public final class PolicyIndex: @unchecked Sendable {
    // @unchecked: only functions that receive the tree access the vars, as with `Node`.
    public let directory: Node
    private(set) var policy: DirectoryPolicy
    /// Charged blocks of all files that belong to the policy.
    private(set) var blocks: Int64 = 0
    private(set) var files: Int64 = 0
    /// The files that the policy may take now. `old` has the files that have reached the age, `excess` has the oldest of the
    /// others, as many as must go because of the size limit, and `young` has the rest.
    let old = CreationHeap()
    let excess = CreationHeap()
    let young = CreationHeap()
    /// The files of `excess`, newest first.
    private let newestExcess = CreationHeap(isNewestFirst: true)
    /// Whether use has reached the limit. Becomes false when use is down to half of the limit, or is below the limit with no
    /// file left to take.
    private(set) var isOver = false
    /// Whether the policy takes files because of its size limit: a write, a check or the release of a skipped file found the
    /// limit reached.
    private(set) var isTriggered = false
    /// Whether the policy was triggered and use is still at the limit, but no file can be taken. The policy resumes after a
    /// write, after a check, or when a skipped file is released.
    private var isExhausted = false
    /// Whether blocks have been written or the policy has been checked, and whether a skipped file has been released, since the
    /// last review.
    private var (wasWritten, wasReleased) = (false, false)
    /// Files that have come from elsewhere since the last review, noted only while the policy is exhausted. Their release does
    /// not trigger it.
    private var arrivals: Set<ObjectIdentifier> = []
    /// Time of the last check. The policy takes all files that had reached the age at that time; nil once none of these files
    /// can be taken.
    private var checked: Instant?
    /// State in the `PolicySet`: listed in `changed`, listed in `unsettled`, counted as pending, listed in `pending`.
    var (isChanged, isUnsettled, isPending, isListedPending) = (false, false, false, false)
    /// Whether the policy was checked and has had files to take without interruption since then.
    var isAwaited = false
    /// Whether the directory now has another policy, or none.
    var isRemoved = false
    /// Index in the heap of `PolicySet`, or -1.
    var dueIndex = -1

    init(directory: Node, policy: DirectoryPolicy) { (self.directory, self.policy) = (directory, policy) }

    var used: ByteCount { ByteCount(blocks: blocks) }

    /// The time at which the next file reaches the age; nil if none will.
    var nextDue: Instant? {
        let creations = [excess.firstCreation, young.firstCreation].compactMap { $0 }
        return creations.min().flatMap { policy.due(created: $0) }
    }

    /// Least number of blocks that the files in `excess` must have.
    private var wantedExcess: Int64 { isOver ? max(0, policy.excess(of: used).blocks - old.blocks) : 0 }

    /// Number of files whose rank the policy changes.
    var filesOver: Int { old.count + excess.count }

    /// Whether `excess` may hold the wrong files.
    var mayBeUnsettled: Bool { isOver || !excess.isEmpty }

    /// Moves a file into or out of `excess`. Returns nil once `excess` has the oldest files, exactly as many as must go.
    func moveExcess(paths: UInt64) -> (node: Node, breach: PolicyBreach?)? {
        let (newest, wanted) = (newestExcess.first(paths: paths), wantedExcess)
        if wanted > 0, let next = young.first(paths: paths),
            excess.blocks < wanted || newest.map({ next.wasCreated(before: $0) }) ?? false
        {
            young.remove(next)
            insertExcess(next)
            return (next, .size)
        }
        guard let newest, excess.blocks - newest.blocks >= wanted else { return nil }
        removeExcess(newest)
        young.insert(newest)
        return (newest, nil)
    }

    private func insertExcess(_ node: Node) {
        excess.insert(node)
        newestExcess.insert(node)
    }

    /// Removes a file from `excess`. Returns whether it was there.
    @discardableResult
    func removeExcess(_ node: Node) -> Bool { newestExcess.remove(node) && excess.remove(node) }

    private var hasNone: Bool { young.isEmpty && excess.isEmpty && old.isEmpty }

    /// Whether the policy has a file to take now.
    var wantsVictim: Bool { isTriggered && !hasNone || hasCheckedVictim }
    /// Whether the policy has a file to take that had reached the age at the last check.
    var hasCheckedVictim: Bool {
        guard let checked, let first = old.firstCreation, let due = policy.due(created: first) else { return false }
        return due <= checked
    }

    /// Adds to the numbers of blocks and files; both may be negative.
    func add(_ more: Int64, files count: Int64, isWrite: Bool) {
        blocks += more
        files += count
        if isWrite { wasWritten = true }
    }

    /// Returns whether the policy may take the file now.
    func lists(_ node: Node) -> Bool { young.contains(node) || excess.contains(node) || old.contains(node) }

    /// Records that a file has come from elsewhere.
    func noteArrival(_ node: Node) {
        if isExhausted { arrivals.insert(ObjectIdentifier(node)) }
    }

    /// Records that a file is no longer in use.
    func noteRelease(_ node: Node) {
        if isExhausted, !arrivals.contains(ObjectIdentifier(node)) { wasReleased = true }
    }

    /// Replaces the policy and resets its state. Returns the files that were over the old policy; they may not be over the new
    /// one.
    func restart(with policy: DirectoryPolicy) -> [Node] {
        self.policy = policy
        (isOver, isTriggered, isExhausted, wasWritten, checked) = (false, false, false, false, nil)
        newestExcess.removeAll()
        let nodes = old.removeAll() + excess.removeAll()
        for node in nodes { young.insert(node) }
        return nodes
    }

    /// Triggers the policy: files that have reached the age by `now` go and, if the limit has been reached, so do the oldest
    /// files.
    func check(at now: Instant) {
        checked = now
        wasWritten = true
    }

    /// Updates the state from the use and the files, at the end of a change.
    func review() {
        let isReached = policy.isReached(by: used)
        if isReached {
            isOver = true
            if wasWritten || wasReleased { (isTriggered, isExhausted) = (true, false) }
            if isTriggered, hasNone { (isTriggered, isExhausted) = (false, true) }
        } else if policy.excess(of: used) == .zero || hasNone {
            (isOver, isTriggered, isExhausted) = (false, false, false)
        }
        (wasWritten, wasReleased) = (false, false)
        if !arrivals.isEmpty { arrivals = [] }
        if !hasCheckedVictim { checked = nil }
    }
}

/// A policy in the order of the times at which its next file reaches the age.
struct DuePolicy: HeapMember, Sendable {
    let due: Instant
    let index: PolicyIndex

    func goesBefore(_ other: DuePolicy) -> Bool { due < other.due }
    func note(index position: Int) { index.dueIndex = position }
}
