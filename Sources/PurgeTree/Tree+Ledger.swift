import PurgeModel

// Charged blocks of files.
extension Tree {
    /// Charges the blocks of `range` that are not charged yet.
    public mutating func charge(_ node: Node, _ range: Range<Int64>) {
        let missing = node.missing(in: range)
        node.part?.extents?.insert(range)
        counted.add(missing, to: node)
    }

    /// Sets the number of blocks of a dense file.
    public mutating func resize(_ node: Node, toBlocks blocks: Int64) {
        guard node.isDense else { return }
        counted.add(blocks - node.blocks, to: node)
    }

    /// Charges exactly the blocks of `runs` in a range of a file that is not dense; without runs, the range is freed. Blocks of
    /// the runs beyond the range are charged too.
    public mutating func recharge(_ node: Node, _ range: Range<Int64>, as runs: [Range<Int64>] = []) {
        guard let part = node.part, part.extents != nil else { return }
        part.extents?.remove(range)
        for run in runs { part.extents?.insert(run) }
        counted.add((part.extents?.count ?? 0) - node.blocks, to: node)
    }

    /// Allows a dense file to get holes, and blocks past its end.
    public mutating func makeSparse(_ node: Node) {
        if node.isDense { node.ensuredPart.extents = ExtentSet(0..<max(0, node.blocks)) }
    }

    /// Marks a file as dense. The caller ensures that every block up to its end is charged, and none beyond.
    public mutating func makeDense(_ node: Node) { node.part?.extents = nil }
}
