import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

// Files with holes: docs/INTERNALS.md, Charged blocks.
extension ChargedBlocks {
    /// The size of a file with a record; nil for a dense file.
    func sparseSize(_ node: Node) -> Int64? { read { $0[node].sparseSize } }

    /// Prepares a file for a write, truncate or allocation that begins at `block`. If the call would skip blocks, a dense file
    /// gets a record. While the file is passed through, the hole must be allocated instead, because a mapping could fill it
    /// unseen. The blocks of that hole are returned, so that the caller reserves them together with its own.
    func readyForHole(_ node: Node, _ descriptor: Int32, before block: Int64) throws(Errno) -> Range<Int64>? {
        if read({ $0[node].isUnsettled }) { settleAgain(node, descriptor) }
        let (wouldSkip, isPassed, blocks) = read { state in
            (state[node].wouldSkip(before: block), state[node].isPassed, state[node].blocksToEnd)
        }
        guard wouldSkip else { return nil }
        if isPassed { return blocks..<block }
        try makeSparse(node, descriptor)
        return nil
    }

    /// Allocates blocks that have been reserved because they would otherwise be a hole.
    func fill(_ hole: Range<Int64>, _ descriptor: Int32) throws(Errno) {
        let (start, end) = (ByteCount(blocks: hole.lowerBound), ByteCount(blocks: hole.upperBound))
        try System.allocate(descriptor, mode: 0, offset: start.bytes, length: (end - start).bytes)
    }

    /// Frees blocks that a failed call has left past `size`. If that fails, `settle` counts them.
    func takeBack(pastSize size: Int64, _ descriptor: Int32) {
        do throws(Errno) { try System.truncate(descriptor, size) } catch {}
    }

    /// Gives a dense file a record, and stores the list of its charged blocks in the tree. Without `isStored`, the caller
    /// stores the record later with `changeRecord`.
    func makeSparse(_ node: Node, _ descriptor: Int32, isStored: Bool = true) throws(Errno) {
        let size = try System.status(descriptor).size
        let blocks = read { $0[node].blocks }
        let dense = ExtentSet(0..<max(0, blocks))
        var record = ExtentRecord(runs: dense)
        if isStored { try setRecord(&record, node, descriptor) }
        let made = StoredExtents(record: record, size: size)
        change { state in
            guard state[node].isDense else { return }
            state.tree.makeSparse(node)
            state[node].io.extents = made
        }
    }

    /// Changes the record of a file that has one, on disk and then in memory. With `always`, the record is stored even if it
    /// stays the same.
    func changeRecord(
        _ node: Node, _ descriptor: Int32, always: Bool = false, _ body: (inout ExtentSet) -> Void
    ) throws(Errno) {
        guard var record = read({ $0[node].io.extents?.record }) else { return }
        let before = record.runs
        body(&record.runs)
        guard always || record.runs != before else { return }
        try setRecord(&record, node, descriptor)
        let changed = record
        change { $0[node].io.extents?.record = changed }
    }

    /// Stores a record as the file's owner. Setting an attribute requires write permission at the time of the call, whatever
    /// the descriptor allowed when it was opened.
    private func setRecord(_ record: inout ExtentRecord, _ node: Node, _ descriptor: Int32) throws(Errno) {
        do throws(Errno) {
            try access.asOwner(of: descriptor) { () throws(Errno) in
                try store.setExtentRecord(&record, of: descriptor, nil)
            }
        } catch { throw access.hostError(error, node) }
    }

    /// Notes that a file with a record has been written up to `end`, and drops a record that is no longer needed. With
    /// `hasEveryBlock`, the backing file is known to have all of its blocks, although seeking reports blocks without data as a
    /// hole.
    func noteWritten(_ node: Node, _ descriptor: Int32, end: Int64, hasEveryBlock: Bool = false) {
        change { state in
            guard let size = state[node].sparseSize else { return }
            state[node].io.extents?.size = max(size, end)
        }
        _ = dropFullRecord(node, descriptor, hasEveryBlock: hasEveryBlock)
    }

    /// Removes freed blocks of the backing file from the ledger and the record. If the record cannot be changed, the blocks
    /// stay charged, as they will be at the next mount.
    func noteFreed(_ node: Node, _ descriptor: Int32, _ blocks: Range<Int64>, size: Int64) {
        let wasDense = change { state -> Bool in
            guard !state[node].isDense else {
                state.tree.resize(node, toBlocks: min(state[node].blocks, ByteCount(size).blocks))
                return true
            }
            state.tree.recharge(node, blocks)
            state[node].io.extents?.size = size
            return false
        }
        if wasDense || dropFullRecord(node, descriptor) { return }
        do throws(Errno) { try changeRecord(node, descriptor) { $0.remove(blocks) } } catch {
            access.report("\(error): blocks that are free stay charged", node)
            settle(node, descriptor, blocks)
        }
    }

    /// Drops the record of a file that is charged for every block up to its end and for none beyond. The backing file must have
    /// all of these blocks too, because the next scan does not see blocks that are allocated only in the ledger. Returns
    /// whether the record was dropped.
    private func dropFullRecord(_ node: Node, _ descriptor: Int32, hasEveryBlock: Bool = false) -> Bool {
        let full = read { state -> StoredExtents? in
            guard let charged = state[node].extents, let stored = state[node].io.extents,
                charged.isExactly(below: ByteCount(stored.size).blocks)
            else { return nil }
            return stored
        }
        guard let full else { return false }
        do throws(Errno) {
            if full.size > 0 && !hasEveryBlock {
                let hole = try System.seek(descriptor, 0, System.seekHole)
                guard hole >= full.size else { return false }
            }
            try access.asOwner(of: descriptor) { () throws(Errno) in
                try store.dropExtentRecord(full.record, of: descriptor, nil)
            }
        } catch { return false }  // the file is also correct with a record
        change { state in
            state.tree.makeDense(node)
            state[node].dropStoredExtents()
        }
        return true
    }

    /// Returns the blocks of `range` in which the backing file has data.
    func dataExtents(of file: Int32, in range: Range<Int64>) throws(Errno) -> ExtentSet {
        var found = ExtentSet()
        let block = ByteCount.block.bytes
        let end = ByteCount(blocks: range.upperBound).bytes
        var offset = ByteCount(blocks: range.lowerBound).bytes
        if kind.mustSyncBeforeSeek {
            try System.syncData(file)
            try System.dropCache(file, offset: offset, length: end - offset)
        }
        while offset < end {
            let data: Int64
            do { data = try System.seek(file, offset, System.seekData) } catch .noSuchAddressOrDevice {
                break
            }
            guard data < end else { break }
            let hole = try System.seek(file, data, System.seekHole)
            guard hole > data else { throw .ioError }
            found.insert(data / block..<min(range.upperBound, ByteCount(hole).blocks))
            offset = hole
        }
        return found
    }
}
