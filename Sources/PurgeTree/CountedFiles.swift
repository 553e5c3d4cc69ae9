import PurgeModel

/// What the files of a tree amount to: the numbers of the device, the order of the victims, and the use of policies.
///
/// Any change of a file is made between `withdraw` and `enter`; `add` is a shortcut for changes of blocks only.
@usableFromInline struct CountedFiles: Sendable {
    @usableFromInline var accounts: DeviceAccounts
    @usableFromInline var policies = PolicySet()
    var queue = VictimQueue()
    /// A file of `tmp` is aged if its last use is not later; nil as long as nobody has asked.
    var lastUseOfAged: Instant?
    /// What has ended since `Tree.takeEndings`.
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

    /// More blocks, or fewer, for a file that counts.
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

    /// Counts the file as reclaimable if purging it would really free its bytes, and adds it to the victims unless it
    /// is held. If a policy may take it, that lists it.
    mutating func offer(_ node: Node) {
        guard node.flags.contains(.counted) else { return }
        policies.list(node)
        if let lastUseOfAged, !node.flags.contains(.reclaimable) {
            node.flags.set(.aged, to: node.standing.tier == .temporary && node.lastUse <= lastUseOfAged)
        }
        let verdict = node.verdict(for: .room)
        guard verdict.isReclaimable else { return }
        if !node.flags.contains(.reclaimable) {
            node.flags.insert(.reclaimable)
            accounts[of: node].offer(node.charged, as: node.purgeClass)
            if node.holds > 0 { accounts[of: node].hold(node.charged, as: node.purgeClass) }
        }
        if let rank = verdict.rank { queue.insert(node, rank: rank) }
    }

    /// A file that may be purged as one with others was used, which counts for them even if it is open.
    mutating func noteUseInGroup(of node: Node, at instant: Instant) {
        if node.isInGroup, node.flags.contains(.counted) { queue.noteUse(of: node, at: instant) }
    }

    /// The file is no longer reclaimable, and no policy may take it.
    mutating func retract(_ node: Node) {
        policies.unlist(node)
        guard node.flags.contains(.reclaimable) else { return }
        queue.remove(node)
        node.flags.remove(.reclaimable)
        if node.holds > 0 { noteReleased(node) }
        accounts[of: node].retract(node.charged, as: node.purgeClass)
        node.flags.remove(.aged)
    }

    /// Makes one more file aged, if there is one that has become it.
    mutating func moveAged() -> Bool {
        guard let lastUseOfAged, let node = queue.firstYoung(usedUntil: lastUseOfAged) else { return false }
        accounts[of: node].retract(node.charged, as: node.purgeClass)
        node.flags.insert(.aged)
        accounts[of: node].offer(node.charged, as: node.purgeClass)
        queue.move(node)
        return true
    }

    /// No purge and no policy chooses the file from here on, though it counts as reclaimable if it did.
    mutating func hold(_ node: Node) {
        policies.unlist(node)
        guard node.flags.contains(.reclaimable) else { return }
        queue.remove(node)
        accounts[of: node].hold(node.charged, as: node.purgeClass)
    }

    /// The end of `hold`.
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
