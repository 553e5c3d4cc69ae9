import PurgeModel

/// A directory with a policy, and the files that belong to it: those below it with one name, and no other directory
/// with a policy in between.
public final class PolicyIndex: @unchecked Sendable {
    // @unchecked: the vars are used only by functions that have been given the tree, as those of `Node` are.
    public let directory: Node
    private(set) var policy: DirectoryPolicy
    /// Charged blocks of all files that belong to it.
    private(set) var blocks: Int64 = 0
    private(set) var files: Int64 = 0
    /// The files that the policy may take now. Those in `old` have reached the age; those in `excess` are the oldest of
    /// the others, and over the size; the rest is in `young`.
    let old = CreationHeap()
    let excess = CreationHeap()
    let young = CreationHeap()
    /// The files of `excess`, the newest first.
    private let newestExcess = CreationHeap(isNewestFirst: true)
    /// The limit has been reached, and use has not gone back to half of it since.
    private(set) var isOver = false
    /// A write has reached the limit, or a check has found it reached.
    private(set) var isTriggered = false
    /// It was triggered, and use is still at the limit, but no file can go: it goes on when one that it has skipped is released.
    private var isExhausted = false
    /// Blocks have been written since the last review; a file that it has skipped is no longer in use.
    private var (wasWritten, wasReleased) = (false, false)
    /// The files that have come from elsewhere since the last review. They do not set it off.
    private var arrivals: Set<ObjectIdentifier> = []
    /// Files that had reached the age at this moment go.
    private var checked: Instant?
    /// Whether `PolicySet` has it in its list of that name.
    var (isChanged, isUnsettled, isPending, isListedPending) = (false, false, false, false)
    /// It has been checked, and has not been without a victim since.
    var isAwaited = false
    /// The directory has another policy, or none.
    var isRemoved = false
    /// Its position in the heap of `PolicySet`, or -1.
    var dueIndex = -1

    init(directory: Node, policy: DirectoryPolicy) { (self.directory, self.policy) = (directory, policy) }

    var used: ByteCount { ByteCount(blocks: blocks) }

    /// When the next file reaches the age; nil if none will.
    var nextDue: Instant? {
        let creations = [excess.firstCreation, young.firstCreation].compactMap { $0 }
        return creations.min().flatMap { policy.due(created: $0) }
    }

    /// How many blocks the files in `excess` must have at least.
    private var wantedExcess: Int64 { isOver ? max(0, policy.excess(of: used).blocks - old.blocks) : 0 }

    /// How many files have another rank because of the policy.
    var filesOver: Int { old.count + excess.count }

    /// Whether `excess` may not have the right files.
    var mayBeUnsettled: Bool { isOver || !excess.isEmpty }

    /// Moves a file into `excess` or out of it; nil once it has the oldest files, as many as must go and no more.
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

    /// Returns whether it was there.
    @discardableResult
    func removeExcess(_ node: Node) -> Bool { newestExcess.remove(node) && excess.remove(node) }

    private var hasNone: Bool { young.isEmpty && excess.isEmpty && old.isEmpty }

    /// Whether the policy takes a file now.
    var wantsVictim: Bool { isTriggered && !hasNone || hasCheckedVictim }
    /// The same for a file that had reached the age at the last check.
    var hasCheckedVictim: Bool {
        guard let checked, let first = old.firstCreation, let due = policy.due(created: first) else { return false }
        return due <= checked
    }

    /// More files and blocks, or fewer.
    func add(_ more: Int64, files count: Int64, isWrite: Bool) {
        blocks += more
        files += count
        if isWrite { wasWritten = true }
    }

    /// Whether it may take the file now.
    func lists(_ node: Node) -> Bool { young.contains(node) || excess.contains(node) || old.contains(node) }

    /// A file has come from elsewhere.
    func noteArrival(_ node: Node) {
        if isExhausted { arrivals.insert(ObjectIdentifier(node)) }
    }

    /// A file is no longer in use.
    func noteRelease(_ node: Node) {
        if isExhausted, !arrivals.contains(ObjectIdentifier(node)) { wasReleased = true }
    }

    /// It begins anew with another policy. Returns the files that may be over it no longer.
    func restart(with policy: DirectoryPolicy) -> [Node] {
        self.policy = policy
        (isOver, isTriggered, isExhausted, wasWritten, checked) = (false, false, false, false, nil)
        newestExcess.removeAll()
        let nodes = old.removeAll() + excess.removeAll()
        for node in nodes { young.insert(node) }
        return nodes
    }

    /// Sets the policy off: files that have reached the age by `now` go, and the oldest if the limit has been reached.
    func check(at now: Instant) {
        checked = now
        wasWritten = true
    }

    /// Brings its state in line with its use and its files, at the end of a change.
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

/// A directory in the order of the moments at which its next file reaches the age.
struct DuePolicy: HeapMember, Sendable {
    let due: Instant
    let index: PolicyIndex

    func goesBefore(_ other: DuePolicy) -> Bool { due < other.due }
    func note(index position: Int) { index.dueIndex = position }
}
