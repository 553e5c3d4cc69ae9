import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// Changes to the size and the blocks of files, except by writes.
struct FileSpace: VolumeFamily {
    let core: VolumeCore

    /// Sets the size, for truncate(2) and ftruncate(2). This frees every block past the new end, and allocates nothing unless
    /// the file is passed through.
    func truncate(
        _ node: Node, _ fd: Int32, to size: Int64, tid: pid_t, debt: inout AnnouncementDebt
    ) throws(Errno) {
        guard size >= 0 else { throw .invalid }
        try checkEnd(size)
        try dataOrder.alone(with: node) { () throws(Errno) in
            let oldSize = try System.status(fd).size
            let end = ByteCount(size).blocks
            if let hole = try charges.readyForHole(node, fd, before: end) {
                // The file is passed through: the would-be hole is allocated, either completely or not at all.
                let demand = Demand(blocks: hole, takesPart: false, tid: tid)
                _ = try charges.reserve(demand, for: node, fd, wrote: false, &debt)
                try grow(node, fd, from: oldSize, to: size, filling: hole)
            } else {
                try grow(node, fd, from: oldSize, to: size)
            }
            charges.noteFreed(node, fd, end..<Int64.max, size: size)
        }
    }

    /// Sets the size. If that fails, the file is unchanged, so that the kernel's view stays correct.
    private func grow(
        _ node: Node, _ fd: Int32, from oldSize: Int64, to size: Int64, filling hole: Range<Int64>? = nil
    ) throws(Errno) {
        do throws(Errno) {
            if let hole { try charges.fill(hole, fd) }
            try System.truncate(fd, size)
        } catch {
            if size > oldSize { charges.takeBack(pastSize: oldSize, fd) }
            charges.settle(node, fd, ByteCount(min(size, oldSize)).blocks..<ByteCount(max(size, oldSize)).blocks)
            throw access.hostError(error, node)
        }
        if size > oldSize, kind.fillsGrownTail { emptyGrownTail(node, fd, oldSize) }
    }

    /// Frees the block at the old end of a grown file if the block lies in a hole, because btrfs has allocated it. Otherwise it
    /// would take space on the host, and a scan would count it.
    func emptyGrownTail(_ node: Node, _ fd: Int32, _ oldSize: Int64) {
        let last = oldSize / ByteCount.block.bytes
        let isHole = read { $0[node].extents.map { !$0.contains(last) } ?? false }
        guard isHole, oldSize % ByteCount.block.bytes != 0 else { return }
        do throws(Errno) {
            try System.allocate(
                fd, mode: System.allocatePunchHole | System.allocateKeepSize,
                offset: last * ByteCount.block.bytes, length: ByteCount.block.bytes)
        } catch { charges.settle(node, fd, last..<last + 1) }
    }

    /// Empties a file for open(2) with O_TRUNC, whose descriptor may be open only for reading.
    func empty(_ node: Node, _ fd: Int32, _ flags: Int32) throws(Errno) {
        if flags & O_ACCMODE != O_RDONLY { return try empty(node, fd) }
        let writer = try FileDescriptor.open("/proc/self/fd/\(fd)", O_WRONLY)
        try empty(node, writer.raw)
    }

    private func empty(_ node: Node, _ fd: Int32) throws(Errno) {
        try dataOrder.alone(with: node) { () throws(Errno) in
            try System.truncate(fd, 0)
            charges.noteFreed(node, fd, 0..<Int64.max, size: 0)
        }
    }
}
