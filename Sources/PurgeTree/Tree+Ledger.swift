import PurgeModel

// What each file adds to the numbers. Any change of a file is made between `withdraw` and `enter`; `add` is a shortcut
// for changes of blocks only.
extension Tree {
    mutating func enter(_ node: Node) {
        guard node.isRegular, !node.flags.contains(.counted) else { return }
        node.flags.insert(.counted)
        accounts[of: node].enter(node.charged, as: node.standing.account)
        offer(node)
    }

    mutating func withdraw(_ node: Node) {
        guard node.flags.contains(.counted) else { return }
        retract(node)
        node.flags.remove(.counted)
        accounts[of: node].withdraw(node.charged, as: node.standing.account)
    }

    /// More blocks, or fewer, for a file that counts.
    private mutating func add(_ blocks: Int64, to node: Node) {
        guard blocks != 0 else { return }
        let wasOffered = node.flags.contains(.reclaimable)
        if wasOffered { retract(node) }
        node.blocks += blocks
        if node.flags.contains(.counted) {
            accounts[of: node].charge(ByteCount(blocks: blocks), as: node.standing.account)
        }
        if wasOffered || node.opens == 0 { offer(node) }
    }

    /// Charges the blocks of `range` that are not charged yet.
    public mutating func charge(_ node: Node, _ range: Range<Int64>) {
        let missing = node.missing(in: range)
        node.part?.extents?.insert(range)
        add(missing, to: node)
    }

    /// A dense file has this many blocks.
    public mutating func resize(_ node: Node, toBlocks blocks: Int64) {
        guard node.isDense else { return }
        add(blocks - node.blocks, to: node)
    }

    /// In a range of a file that is not dense exactly these blocks are charged, none if it has been freed. Blocks of
    /// the runs beyond the range are charged too.
    public mutating func recharge(_ node: Node, _ range: Range<Int64>, as runs: [Range<Int64>] = []) {
        guard let part = node.part, part.extents != nil else { return }
        part.extents?.remove(range)
        for run in runs { part.extents?.insert(run) }
        add((part.extents?.count ?? 0) - node.blocks, to: node)
    }

    /// A dense file may now get holes, and blocks past its end.
    public mutating func makeSparse(_ node: Node) {
        if node.isDense { node.ensuredPart.extents = ExtentSet(0..<max(0, node.blocks)) }
    }

    /// A file has every block up to its end and none beyond.
    public mutating func makeDense(_ node: Node) { node.part?.extents = nil }
}
