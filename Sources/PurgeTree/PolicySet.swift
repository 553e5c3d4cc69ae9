import PurgeModel

/// The directories with a policy. The set reads no clock; `Tree.advance` sets `now`.
public struct PolicySet: Sendable {
    public private(set) var now = Instant.distantPast
    private var byDirectory: [ObjectIdentifier: PolicyIndex] = [:]
    /// Policies by the time at which their next file reaches the age.
    private var dues = IndexedHeap<DuePolicy>()
    /// Policies in which something has changed since the last `settle`.
    private var changed: [PolicyIndex] = []
    /// Policies whose files over the size may have changed.
    private var unsettled: [PolicyIndex] = []
    /// Policies that take files now, and some that have finished.
    private var pending: [PolicyIndex] = []
    private var pendingIsInOrder = true
    private var pendingCount = 0
    private var awaitedCount = 0
    /// Incremented whenever a path changes.
    private var paths: UInt64 = 0
    /// The last file that has left a policy, and that policy. A rename within a policy makes the file leave and rejoin it,
    /// which is not an arrival.
    private var lastLeft: (node: ObjectIdentifier, index: ObjectIdentifier)?
    /// The policy that files still belong to while `Placement` visits their directory, whose `nearestPolicy` is already nil.
    var left: PolicyIndex?

    public var isEmpty: Bool { byDirectory.isEmpty }
    /// Whether any policy has a file to take now.
    public var isPending: Bool { pendingCount > 0 }
    /// Whether any policy that was checked still has files to take.
    public var isAwaited: Bool { awaitedCount > 0 }
    /// Returns whether `moveNext` would have nothing to move at this time, given that `settle` has been called.
    public func isSettled(at time: Instant) -> Bool {
        unsettled.isEmpty && !(dues.first.map { $0.due <= time } ?? false)
    }
    /// All policies, in no particular order.
    public var indexes: [PolicyIndex] { Array(byDirectory.values) }
    /// All policies, in the order of their directories' paths.
    public var all: [PolicyIndex] { byDirectory.values.sorted { $0.directory.pathPrecedes($1.directory) } }

    mutating func insert(_ index: PolicyIndex) {
        byDirectory[ObjectIdentifier(index.directory)] = index
        update(index)
    }

    /// Removes a policy from the set. Files that still belong to it leave it when `Placement` visits them.
    mutating func remove(_ index: PolicyIndex) {
        index.isRemoved = true
        byDirectory[ObjectIdentifier(index.directory)] = nil
        if index.dueIndex >= 0 { dues.remove(at: index.dueIndex) }
        index.dueIndex = -1
        note(index, isPending: false)
        changed.removeAll { $0 === index }
        unsettled.removeAll { $0 === index }
        pending.removeAll { $0 === index }
    }

    /// Replaces the policy of a directory. Returns the files that were over the old policy; they may not be over the new one.
    mutating func restart(_ index: PolicyIndex, with policy: DirectoryPolicy) -> [Node] {
        defer { update(index) }
        return index.restart(with: policy)
    }

    /// Records that paths have changed, which may change the order of files with the same creation time.
    mutating func pathsHaveChanged() {
        paths += 1
        pendingIsInOrder = false
        for index in byDirectory.values { noteUnsettled(index) }
    }

    /// Sets `now`, which goes back if the machine's clock was set back.
    mutating func tell(_ time: Instant) { now = time }

    /// Adds to a policy's numbers of blocks and files; both may be negative. A write may trigger the policy.
    mutating func add(_ blocks: Int64, files: Int64 = 0, to index: PolicyIndex, isWrite: Bool = false) {
        index.add(blocks, files: files, isWrite: isWrite)
        update(index)
    }

    /// Lists a file that the policy may take now. Returns `.age` if the file has reached the age.
    mutating func list(_ node: Node, in index: PolicyIndex) -> PolicyBreach? {
        guard !index.young.contains(node) else { return nil }
        let isDue = index.policy.due(created: node.creation).map { $0 <= now } ?? false
        (isDue ? index.old : index.young).insert(node)
        update(index)
        return isDue ? .age : nil
    }

    mutating func noteLeft(_ node: Node, _ index: PolicyIndex) {
        lastLeft = (ObjectIdentifier(node), ObjectIdentifier(index))
    }

    mutating func noteJoined(_ node: Node, _ index: PolicyIndex) {
        let isBack = lastLeft.map { $0 == (ObjectIdentifier(node), ObjectIdentifier(index)) } ?? false
        if !isBack { index.noteArrival(node) }
    }

    /// Removes a file that the policy may no longer take.
    mutating func unlist(_ node: Node, in index: PolicyIndex) {
        guard index.young.remove(node) || index.old.remove(node) || index.removeExcess(node) else { return }
        update(index)
    }

    /// Checks all policies, as at the launch of the app. Each then takes the files that have reached the age by `now` and, if
    /// its size limit has been reached, the excess.
    public mutating func check() {
        for index in byDirectory.values {
            index.check(at: now)
            if !index.isAwaited { awaitedCount += 1 }
            index.isAwaited = true
            update(index)
        }
    }

    /// Records that an index has changed.
    mutating func update(_ index: PolicyIndex) {
        if index.isRemoved { return }
        updateDue(index)
        guard !index.isChanged else { return }
        index.isChanged = true
        changed.append(index)
    }

    /// Updates everything that depends on changed indexes. Called only when a change is complete, because a file that is being
    /// moved or used is unlisted for a moment.
    @inline(__always)
    public mutating func settle() {
        if !changed.isEmpty { settleChanged() }
    }

    private mutating func settleChanged() {
        while let index = changed.popLast() {
            index.isChanged = false
            settle(index)
        }
    }

    private mutating func settle(_ index: PolicyIndex) {
        index.review()
        noteUnsettled(index)
        note(index, isPending: index.wantsVictim)
        if index.isPending, !index.isListedPending {
            index.isListedPending = true
            pending.append(index)
            pendingIsInOrder = false
        }
    }

    private mutating func note(_ index: PolicyIndex, isPending: Bool) {
        if isPending != index.isPending { pendingCount += isPending ? 1 : -1 }
        index.isPending = isPending
        if !isPending, index.isAwaited {
            index.isAwaited = false
            awaitedCount -= 1
        }
    }

    private mutating func noteUnsettled(_ index: PolicyIndex) {
        guard index.mayBeUnsettled, !index.isUnsettled else { return }
        index.isUnsettled = true
        unsettled.append(index)
    }

    private mutating func updateDue(_ index: PolicyIndex) {
        let due = index.nextDue
        guard index.dueIndex >= 0 else {
            if let due { dues.insert(DuePolicy(due: due, index: index)) }
            return
        }
        if let due {
            if dues.members[index.dueIndex].due != due {
                dues.update(at: index.dueIndex, to: DuePolicy(due: due, index: index))
            }
        } else {
            dues.remove(at: index.dueIndex)
            index.dueIndex = -1
        }
    }
}

// Moves of files from one heap to another.
extension PolicySet {
    /// Moves one file whose rank has changed with time or use. Returns nil if there is none.
    mutating func moveNext() -> (node: Node, breach: PolicyBreach?)? {
        if let moved = moveDue() { return moved }
        settle()
        return moveUnsettled()
    }

    private mutating func moveDue() -> (node: Node, breach: PolicyBreach?)? {
        guard let next = dues.first, next.due <= now else { return nil }
        let index = next.index
        let firsts = [index.excess, index.young].compactMap { $0.first(paths: paths) }
        guard let node = firsts.min(by: { $0.wasCreated(before: $1) }) else { return nil }
        if !index.removeExcess(node) { index.young.remove(node) }
        index.old.insert(node)
        update(index)
        return (node, .age)
    }

    private mutating func moveUnsettled() -> (node: Node, breach: PolicyBreach?)? {
        while let index = unsettled.last {
            if let moved = index.moveExcess(paths: paths) {
                updateDue(index)
                return moved
            }
            unsettled.removeLast()
            index.isUnsettled = false
        }
        return nil
    }

    /// Returns the next file that a policy takes, and why; nil if there is none now. The file stays listed until it is
    /// chosen.
    public mutating func nextVictim() -> (node: Node, breach: PolicyBreach)? {
        settle()
        if !pendingIsInOrder {
            // The first policy goes to the end, where it can be removed.
            pending.sort { $1.directory.pathPrecedes($0.directory) }
            pendingIsInOrder = true
        }
        while let index = pending.last {
            if let victim = victim(of: index) { return victim }
            index.isListedPending = false
            pending.removeLast()
        }
        return nil
    }

    /// Returns the next victim of a policy: first a file that had reached the age at the last check, then, if the size limit
    /// triggered the policy, the oldest file.
    private func victim(of index: PolicyIndex) -> (node: Node, breach: PolicyBreach)? {
        if index.hasCheckedVictim, let node = index.old.first(paths: paths) { return (node, .age) }
        guard index.isTriggered else { return nil }
        // A file listed since the last `Tree.advance` may be older than the files in an earlier heap.
        let firsts = [index.old, index.excess, index.young].compactMap { $0.first(paths: paths) }
        return firsts.min { $0.wasCreated(before: $1) }.map { ($0, .size) }
    }
}
