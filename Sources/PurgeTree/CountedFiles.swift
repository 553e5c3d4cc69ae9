import PurgeModel

/// The counted state of a tree's files: the numbers of the device, the order of victims, and the use of policies.
///
/// While a file is counted, its standing does not change, and its blocks change only through `add`. Callers make any other
/// change of these two between `withdraw` and `enter`.
@usableFromInline struct CountedFiles: Sendable {
    @usableFromInline var accounts: DeviceAccounts
    @usableFromInline var policies = PolicySet()
    var queue = VictimQueue()
    /// The endings of holds and purges since the last `Tree.takeEndings`.
    var endings: TreeEndings = []

    init(_ device: Device) { accounts = DeviceAccounts(device) }

    mutating func enter(_ node: Node) {
        guard node.isRegular, !node.flags.contains(.counted) else { return }
        node.flags.insert(.counted)
        policies.join(node)
        accounts[of: node].enter(node.charged, as: node.standing.account)
        offer(node)
    }

    mutating func withdraw(_ node: Node) {
        guard node.flags.contains(.counted) else { return }
        policies.leave(node)
        retract(node)
        node.flags.remove(.counted)
        accounts[of: node].withdraw(node.charged, as: node.standing.account)
    }

    /// Adds `blocks`, which may be negative, to the file and, if it is counted, to its ledger and policy.
    mutating func add(_ blocks: Int64, to node: Node) {
        guard blocks != 0 else { return }
        let wasOffered = node.flags.contains(.reclaimable)
        if wasOffered || node.opens == 0 { retract(node) }
        node.blocks += blocks
        if node.flags.contains(.counted) {
            accounts[of: node].charge(ByteCount(blocks: blocks), as: node.standing.account)
            policies.add(blocks, of: node)
        }
        if wasOffered || node.opens == 0 { offer(node) }
    }

    /// Counts the file as reclaimable if a purge for room may take it, or may do so once no call holds it. Adds it to the
    /// victims unless it is held, and lists it in its policy if the policy may take it.
    mutating func offer(_ node: Node) {
        guard node.flags.contains(.counted) else { return }
        policies.list(node)
        let verdict = node.verdict(for: .room)
        guard verdict.isReclaimable else { return }
        if !node.flags.contains(.reclaimable) {
            node.flags.insert(.reclaimable)
            accounts[of: node].offer(node.charged, as: node.purgeClass)
            if node.holds > 0 { accounts[of: node].hold(node.charged, as: node.purgeClass) }
        }
        if let rank = verdict.rank { queue.insert(node, rank: rank) }
    }

    /// Records the use of a file in a group. The use counts for the file's whole unit, even while the file is open.
    mutating func noteUseInGroup(of node: Node, at instant: Instant) {
        if node.isInGroup, node.flags.contains(.counted) { queue.noteUse(of: node, at: instant) }
    }

    /// Removes the file from the reclaimable bytes, the victims and the list of its policy.
    mutating func retract(_ node: Node) {
        policies.unlist(node)
        guard node.flags.contains(.reclaimable) else { return }
        queue.remove(node)
        node.flags.remove(.reclaimable)
        if node.holds > 0 { noteReleased(node) }
        accounts[of: node].retract(node.charged, as: node.purgeClass)
    }

    /// Removes the file from the victims and from the list of its policy until `release`. A reclaimable file still counts as
    /// reclaimable.
    mutating func hold(_ node: Node) {
        policies.unlist(node)
        guard node.flags.contains(.reclaimable) else { return }
        queue.remove(node)
        accounts[of: node].hold(node.charged, as: node.purgeClass)
    }

    /// Ends a `hold`.
    mutating func release(_ node: Node) {
        guard node.flags.contains(.reclaimable) else { return policies.list(node) }
        noteReleased(node)
        offer(node)
    }

    private mutating func noteReleased(_ node: Node) {
        accounts[of: node].release(node.charged, as: node.purgeClass)
        endings.insert(.hold)
    }
}
