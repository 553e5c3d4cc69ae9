import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// A parsed call of fallocate(2).
public struct AllocationRequest: Sendable {
    public var mode: Int32
    public var offset: Int64
    public var length: Int64
    public var tid: pid_t

    public init(mode: Int32, offset: Int64, length: Int64, tid: pid_t) {
        self.mode = mode
        self.offset = offset
        self.length = length
        self.tid = tid
    }

    var end: Int64 { (ByteCount(offset) + ByteCount(length)).bytes }
    var keepsSize: Bool { mode & System.allocateKeepSize != 0 }
    var blocks: Range<Int64> { ByteCount(offset).wholeBlocks..<ByteCount(end).blocks }
}

extension FileSpace {
    func allocate(
        _ handle: Handle, _ request: AllocationRequest, debt: inout AnnouncementDebt
    ) throws(Errno) {
        guard request.length > 0, request.offset >= 0 else { throw .invalid }
        try protection.admit(.use, to: handle.node, by: request.tid)
        try checkEnd(request.end)
        port.expectSlowWork()
        try Privileges.dropUnlessCapable(from: handle.descriptor, tid: request.tid)
        try openFiles.apartFromUse(of: handle.node) { () throws(Errno) in
            try dataOrder.alone(with: handle.node) { () throws(Errno) in
                charges.settleAgain(handle.node, handle.descriptor)
                switch request.mode & ~System.allocateKeepSize {
                case 0: try reserveBlocks(handle, request, zeroes: false, &debt)
                case System.allocateZeroRange: try reserveBlocks(handle, request, zeroes: true, &debt)
                case System.allocatePunchHole where request.keepsSize: try punch(handle, request)
                default: throw .notSupported
                }
            }
        }
    }

    private func reserveBlocks(
        _ handle: Handle, _ request: AllocationRequest, zeroes: Bool, _ debt: inout AnnouncementDebt
    ) throws(Errno) {
        let (node, fd) = (handle.node, handle.descriptor)
        let size = try System.status(fd).size
        // If the file keeps its size, blocks past its end leave no hole in it.
        let hole = request.keepsSize ? nil : try charges.readyForHole(node, fd, before: request.blocks.lowerBound)
        let wasDense = isDense(node)
        let goesPastEnd = request.keepsSize && request.blocks.upperBound > ByteCount(size).blocks
        // Only a record shows that blocks past the end are charged. It also covers blocks that are being zeroed, because XFS
        // frees them and may then have no room for them. The record is stored after the blocks have been reserved, because a
        // refused call must leave the file's change time unchanged.
        let getsRecord = wasDense && (zeroes || goesPastEnd)
        if getsRecord { try charges.makeSparse(node, fd, isStored: false) }
        let blocks = (hole?.lowerBound ?? request.blocks.lowerBound)..<request.blocks.upperBound
        let fresh = read { $0[node].gaps(in: blocks) }
        do throws(Errno) {
            let demand = Demand(blocks: blocks, takesPart: false, tid: request.tid)
            _ = try charges.reserve(demand, for: node, fd, wrote: false, &debt)
        } catch {
            if getsRecord { charges.noteWritten(node, fd, end: size, hasEveryBlock: true) }
            throw error
        }
        do throws(Errno) {
            try charges.changeRecord(node, fd, always: getsRecord) { $0.insert(request.blocks) }
            if let hole { try charges.fill(hole, fd) }
            try allocateBacking(fd, request, size: size, zeroes: zeroes)
        } catch {
            takeBack(fresh, node, fd, size: size, isStored: !getsRecord)
            charges.settle(node, fd, blocks)
            throw access.hostError(error, node)
        }
        if kind.fillsGrownTail, size < request.offset { emptyGrownTail(node, fd, size) }
        charges.noteWritten(
            node, fd, end: request.keepsSize ? size : max(size, request.end), hasEveryBlock: wasDense && !goesPastEnd)
    }

    /// Undoes a failed allocation: frees blocks that were not there before and have no data. Without `isStored`, the file's
    /// record may not be in the store yet.
    private func takeBack(_ fresh: ExtentSet, _ node: Node, _ fd: Int32, size: Int64, isStored: Bool) {
        charges.takeBack(pastSize: size, fd)
        guard !isDense(node) else { return }
        for run in fresh.runs where run.lowerBound < ByteCount(size).blocks {
            do throws(Errno) { try free(run, fd) } catch {}  // the run has no data, so it is not counted
        }
        do throws(Errno) {
            try charges.changeRecord(node, fd, always: !isStored) { for run in fresh.runs { $0.remove(run) } }
        } catch {
            access.report("\(error): blocks that were not allocated stay charged", node)
        }
    }

    private func free(_ blocks: Range<Int64>, _ fd: Int32) throws(Errno) {
        let (start, end) = (ByteCount(blocks: blocks.lowerBound), ByteCount(blocks: blocks.upperBound))
        try System.allocate(
            fd, mode: System.allocatePunchHole | System.allocateKeepSize, offset: start.bytes,
            length: (end - start).bytes)
    }

    /// Allocates blocks in the backing file, with KEEP_SIZE only up to its end, because file systems treat blocks past the end
    /// differently.
    private func allocateBacking(
        _ fd: Int32, _ request: AllocationRequest, size: Int64, zeroes: Bool
    ) throws(Errno) {
        let end = request.keepsSize ? min(request.end, size) : request.end
        guard end > request.offset else { return }
        let length = end - request.offset
        guard zeroes else { return try System.allocate(fd, mode: 0, offset: request.offset, length: length) }
        do {
            try System.allocate(fd, mode: System.allocateZeroRange, offset: request.offset, length: length)
        } catch .notSupported {
            try writeZeroes(fd, request.offset..<end)
        }
    }

    /// Frees whole blocks and zeroes the edges. The last block counts as whole if the hole reaches the end of the file.
    private func punch(_ handle: Handle, _ request: AllocationRequest) throws(Errno) {
        let (node, fd) = (handle.node, handle.descriptor)
        let block = ByteCount.block.bytes
        let size = try System.status(fd).size
        let begin = ByteCount(request.offset).blocks
        let reachesEnd = request.end >= size
        let last = max(begin, max(request.end / block, reachesEnd ? ByteCount(size).blocks : 0))
        let (frees, first) = read { state -> (Bool, Int64) in
            // A mapping of a passed-through file could fill a hole unseen, so only blocks past the end are freed, and the
            // others are zeroed.
            let first = state[node].isPassed ? min(last, max(begin, ByteCount(size).blocks)) : begin
            let charged =
                state[node].extents.map { $0.count(in: first..<last) > 0 } ?? (first < min(last, state[node].blocks))
            return (charged, first)
        }
        let dataEnd = min(request.end, size)
        guard frees else {
            return try zeroCharged(node, fd, request.offset..<max(request.offset, dataEnd))
        }
        try zeroCharged(node, fd, request.offset..<min(first * block, max(request.offset, dataEnd)))
        if last * block < dataEnd {
            try zeroCharged(node, fd, max(request.offset, last * block)..<dataEnd)
        }
        if isDense(node) { try charges.makeSparse(node, fd) }
        do throws(Errno) { try free(first..<last, fd) } catch {
            charges.settle(node, fd, first..<last)
            throw access.hostError(error, node)
        }
        charges.noteFreed(node, fd, first..<last, size: size)
    }

    /// Writes zeroes where blocks are charged; the rest is zero already.
    private func zeroCharged(_ node: Node, _ fd: Int32, _ range: Range<Int64>) throws(Errno) {
        guard !range.isEmpty else { return }
        let extents = read { $0[node].extents }
        guard let extents else { return try writeZeroes(node, fd, range) }
        for run in extents.runs {
            let whole = ByteCount(blocks: run.lowerBound).bytes..<ByteCount(blocks: run.upperBound).bytes
            let bytes = whole.clamped(to: range)
            if !bytes.isEmpty { try writeZeroes(node, fd, bytes) }
        }
    }

    private func writeZeroes(_ node: Node, _ fd: Int32, _ range: Range<Int64>) throws(Errno) {
        do throws(Errno) { try writeZeroes(fd, range) } catch { throw access.hostError(error, node) }
    }

    private func writeZeroes(_ fd: Int32, _ range: Range<Int64>) throws(Errno) {
        let zeroes = [UInt8](repeating: 0, count: min(1 << 20, range.count))
        var offset = range.lowerBound
        while offset < range.upperBound {
            let length = min(zeroes.count, Int(range.upperBound - offset))
            offset += Int64(
                try zeroes.withUnsafeBytes { buffer in
                    Result { () throws(Errno) in
                        try System.pwrite(fd, UnsafeRawBufferPointer(rebasing: buffer[..<length]), offset: offset)
                    }
                }.get())
        }
    }

    /// Refuses an end above the maximum file size, even if nothing is written there (KEEP_SIZE). The maximum is the same on
    /// every store.
    func checkEnd(_ end: Int64) throws(Errno) {
        if end > ByteCount.largestFile.bytes { throw .fileTooLarge }
    }
}
