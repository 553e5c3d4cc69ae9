import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

extension Volume {
    /// ftruncate(2) to `size`: frees every block past the new end, allocates nothing.
    func truncate(_ node: Node, _ fd: Int32, to size: Int64, pid: pid_t) throws(Errno) {
        try alone(with: node) { () throws(Errno) in try cut(node, fd, to: size, pid: pid) }
    }

    private func cut(_ node: Node, _ fd: Int32, to size: Int64, pid: pid_t) throws(Errno) {
        try checkEnd(size)
        let end = ByteCount(size).blocks
        let oldSize = Int64(try System.status(fd).st_size)
        try readyForHole(node, fd, before: end, pid: pid)
        do { try System.truncate(fd, size) } catch { throw hostError(error, node) }
        if size > oldSize, kind.fillsGrownTail { try emptyGrownTail(node, fd, oldSize) }
        let full = change { state -> ExtentRecord? in
            if node.isDense {
                state.charge(node, blocks: min(0, end - node.blocks))
                return nil
            }
            let past = end..<max(end, node.part?.extents?.charged.runs.last?.upperBound ?? end)
            let removed = node.part?.extents?.charged.remove(past) ?? 0
            state.charge(node, blocks: -removed)
            node.part?.extents?.size = size
            return lockedFullRecord(node)
        }
        if let full { return try makeDense(node, fd, full) }
        try changeRecord(node, fd) { $0.remove(end..<max(end, $0.runs.last?.upperBound ?? end)) }
    }

    /// btrfs makes a block of the hole in which the old end lay.
    func emptyGrownTail(_ node: Node, _ fd: Int32, _ oldSize: Int64) throws(Errno) {
        let last = oldSize / ByteCount.block.bytes
        let isHole = state.withLock { _ in node.part?.extents.map { !$0.charged.contains(last) } ?? false }
        guard isHole, oldSize % ByteCount.block.bytes != 0 else { return }
        try System.allocate(
            fd, mode: AllocationRequest.punchHole | AllocationRequest.keepSize,
            offset: last * ByteCount.block.bytes, length: ByteCount.block.bytes)
    }

    /// open(2) with O_TRUNC, by a descriptor that may be for reading alone.
    func empty(_ node: Node, _ fd: Int32, _ flags: Int32) throws(Errno) {
        if flags & O_ACCMODE != O_RDONLY { return try empty(node, fd) }
        let writer = try FileDescriptor.open("/proc/self/fd/\(fd)", O_WRONLY)
        try empty(node, writer.raw)
    }

    private func empty(_ node: Node, _ fd: Int32) throws(Errno) {
        try alone(with: node) { () throws(Errno) in
            try System.truncate(fd, 0)
            let record = change { state -> ExtentRecord? in
                state.charge(node, blocks: -node.blocks)
                defer { node.part?.extents = nil }
                return node.part?.extents?.record
            }
            if let record { try store.dropExtentRecord(record, of: fd, nil) }
        }
    }
}
