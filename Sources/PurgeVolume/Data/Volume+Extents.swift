import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

// Files with holes (FUSE.md, Knowing the charged blocks).
extension Volume {
    /// nil for a dense file.
    func sparseSize(_ node: Node) -> Int64? { state.withLock { _ in node.part?.extents?.size } }

    /// Readies a file for a write, truncate or allocation that begins at `block`: one that leaves
    /// blocks out makes a dense file one with a record. While the file is passed through, what
    /// would be a hole is allocated instead, since a mapping could fill it unseen.
    func readyForHole(_ node: Node, _ descriptor: Int32, before block: Int64, pid: pid_t) throws(Errno) {
        let (wouldSkip, isPassed, blocks) = state.withLock { _ in
            (node.isDense && block > node.blocks, (node.part?.passthroughOpens ?? 0) > 0, node.blocks)
        }
        guard wouldSkip else { return }
        guard isPassed else { return try makeSparse(node, descriptor) }
        let range = blocks..<block
        let reservation = try reserve(Demand(blocks: range, takesPart: false, pid: pid), for: node, wrote: false)
        announce(try carryOut(reservation, for: node, descriptor, range))
        do throws(Errno) {
            try System.allocate(
                descriptor, mode: 0, offset: blocks * ByteCount.block.bytes,
                length: Int64(range.count) * ByteCount.block.bytes)
        } catch {
            settle(node, descriptor, range)
            throw hostError(error, node)
        }
    }

    /// Gives a dense file its record and its map.
    func makeSparse(_ node: Node, _ descriptor: Int32) throws(Errno) {
        let size = Int64(try System.status(descriptor).st_size)
        let blocks = state.withLock { _ in node.blocks }
        var record = ExtentRecord(runs: blocks > 0 ? ExtentSet(0..<blocks) : ExtentSet())
        do { try store.setExtentRecord(&record, of: descriptor, nil) } catch { throw hostError(error, node) }
        state.withLock { _ in
            guard node.isDense else { return }
            node.ensuredPart.extents = FileExtents(
                charged: blocks > 0 ? ExtentSet(0..<blocks) : ExtentSet(), record: record, size: size)
        }
    }

    /// Changes the record of a file that has one, on disk and then in the map.
    func changeRecord(
        _ node: Node, _ descriptor: Int32, _ body: (inout ExtentSet) -> Void
    ) throws(Errno) {
        guard var record = state.withLock({ _ in node.part?.extents?.record }) else { return }
        let before = record.runs
        body(&record.runs)
        guard record.runs != before else { return }
        do { try store.setExtentRecord(&record, of: descriptor, nil) } catch { throw hostError(error, node) }
        let changed = record
        state.withLock { _ in node.part?.extents?.record = changed }
    }

    /// A file with a record has been written up to `end`; one that is full again loses the record.
    func noteWritten(_ node: Node, _ descriptor: Int32, end: Int64) throws(Errno) {
        let full = state.withLock { _ -> ExtentRecord? in
            guard let part = node.part, part.extents != nil else { return nil }
            let size = part.extents?.size ?? 0
            part.extents?.size = max(size, end)
            return lockedFullRecord(node)
        }
        if let full { try makeDense(node, descriptor, full) }
    }

    /// The record of a file that has every block up to its end and none beyond.
    func lockedFullRecord(_ node: Node) -> ExtentRecord? {
        guard let extents = node.part?.extents,
            extents.charged.isExactly(below: ByteCount(extents.size).blocks)
        else { return nil }
        return extents.record
    }

    func makeDense(_ node: Node, _ descriptor: Int32, _ record: ExtentRecord) throws(Errno) {
        try store.dropExtentRecord(record, of: descriptor, nil)
        state.withLock { _ in node.part?.extents = nil }
    }
}
