import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// A call of fallocate(2), understood.
public struct AllocationRequest: Sendable {
    public static let keepSize: Int32 = 1
    public static let punchHole: Int32 = 2
    public static let zeroRange: Int32 = 16

    public var mode: Int32
    public var offset: Int64
    public var length: Int64
    public var pid: pid_t

    public init(mode: Int32, offset: Int64, length: Int64, pid: pid_t) {
        self.mode = mode
        self.offset = offset
        self.length = length
        self.pid = pid
    }

    var end: Int64 { offset + length }
    var keepsSize: Bool { mode & Self.keepSize != 0 }
    var blocks: Range<Int64> { offset / ByteCount.block.bytes..<ByteCount(end).blocks }
}

extension Volume {
    /// fallocate(2): plain, KEEP_SIZE, PUNCH_HOLE and ZERO_RANGE. All or nothing.
    public func allocate(_ handle: Handle, _ request: AllocationRequest) throws(Errno) -> [Removal] {
        guard request.length > 0, request.offset >= 0, request.end > 0 else { throw .invalid }
        try checkEnd(request.end)
        hooks.beforeSlowWork()
        try dropPrivilegesUnlessCapable(handle.descriptor, pid: request.pid)
        return try alone(with: handle.node) { () throws(Errno) in try allocateAlone(handle, request) }
    }

    private func allocateAlone(_ handle: Handle, _ request: AllocationRequest) throws(Errno) -> [Removal] {
        switch request.mode & ~AllocationRequest.keepSize {
        case 0: return try reserveBlocks(handle, request, zeroes: false)
        case AllocationRequest.zeroRange: return try reserveBlocks(handle, request, zeroes: true)
        case AllocationRequest.punchHole where request.keepsSize:
            try punch(handle, request)
            return []
        default: throw .notSupported
        }
    }

    private func reserveBlocks(
        _ handle: Handle, _ request: AllocationRequest, zeroes: Bool
    ) throws(Errno) -> [Removal] {
        let node = handle.node
        let fd = handle.descriptor
        let size = Int64(try System.status(fd).st_size)
        try readyForHole(node, fd, before: request.blocks.lowerBound, pid: request.pid)
        if request.keepsSize && request.blocks.upperBound > ByteCount(size).blocks && node.isDenseNow(state) {
            try makeSparse(node, fd)
        }
        let demand = Demand(blocks: request.blocks, takesPart: false, pid: request.pid)
        let reservation = try reserve(demand, for: node, wrote: false)
        var removals: [Removal] = []
        if let job = reservation.job {
            let done = carryOut(job)
            removals = done.removals
            if done.hasFailed {
                settle(node, fd, request.blocks)
                announce(removals)
                throw .input
            }
        }
        do throws(Errno) {
            try changeRecord(node, fd) { $0.insert(request.blocks) }
            try allocateBacking(fd, request, size: size, zeroes: zeroes)
        } catch {
            // What the record has now may be more than the backing holds: it counts, and a
            // truncate or punch frees it. What did not even get there is given back.
            settle(node, fd, request.blocks)
            announce(removals)
            throw hostError(error, node)
        }
        do throws(Errno) {
            if kind.fillsGrownTail, size < request.offset { try emptyGrownTail(node, fd, size) }
            try noteWritten(node, fd, end: request.keepsSize ? size : max(size, request.end))
        } catch {
            announce(removals)
            throw error
        }
        return removals
    }

    /// Blocks past the end stay out of the backing, where file systems disagree about them.
    private func allocateBacking(
        _ fd: Int32, _ request: AllocationRequest, size: Int64, zeroes: Bool
    ) throws(Errno) {
        let end = request.keepsSize ? min(request.end, size) : request.end
        guard end > request.offset else { return }
        let length = end - request.offset
        guard zeroes else { return try System.allocate(fd, mode: 0, offset: request.offset, length: length) }
        do {
            try System.allocate(fd, mode: AllocationRequest.zeroRange, offset: request.offset, length: length)
        } catch .notSupported {
            try writeZeroes(fd, request.offset..<end)
        }
    }

    /// Frees whole blocks only, the last one counting as whole when the hole reaches the end of
    /// the file (SPEC section 1); the edges are zeroed.
    private func punch(_ handle: Handle, _ request: AllocationRequest) throws(Errno) {
        let node = handle.node
        let fd = handle.descriptor
        let block = ByteCount.block.bytes
        let size = Int64(try System.status(fd).st_size)
        let first = ByteCount(request.offset).blocks
        let reachesEnd = request.end >= size
        let last = max(first, max(request.end / block, reachesEnd ? ByteCount(size).blocks : 0))
        let (frees, isPassed) = state.withLock { _ -> (Bool, Bool) in
            let charged =
                node.part?.extents.map { $0.charged.count(in: first..<last) > 0 } ?? (first < min(last, node.blocks))
            return (charged, (node.part?.passthroughOpens ?? 0) > 0)
        }
        let dataEnd = min(request.end, size)
        guard frees && !isPassed else {
            // Nothing to free, or a mapping might fill the hole unseen: the bytes become zero.
            return try zeroCharged(node, fd, request.offset..<max(request.offset, dataEnd))
        }
        try zeroCharged(node, fd, request.offset..<min(first * block, max(request.offset, dataEnd)))
        if last * block < dataEnd {
            try zeroCharged(node, fd, max(request.offset, last * block)..<dataEnd)
        }
        if node.isDenseNow(state) { try makeSparse(node, fd) }
        do {
            try System.allocate(
                fd, mode: AllocationRequest.punchHole | AllocationRequest.keepSize, offset: first * block,
                length: (last - first) * block)
        } catch { throw hostError(error, node) }
        change { state in
            guard let removed = node.part?.extents?.charged.remove(first..<last) else { return }
            state.charge(node, blocks: -removed)
        }
        try changeRecord(node, fd) { $0.remove(first..<last) }
    }

    /// Writes zeroes where blocks are charged; the rest is zero already.
    private func zeroCharged(_ node: Node, _ fd: Int32, _ range: Range<Int64>) throws(Errno) {
        guard !range.isEmpty else { return }
        let block = ByteCount.block.bytes
        let extents = state.withLock { _ in node.part?.extents?.charged }
        guard let extents else { return try writeZeroes(node, fd, range) }
        for run in extents.runs {
            let bytes = (run.lowerBound * block..<run.upperBound * block).clamped(to: range)
            if !bytes.isEmpty { try writeZeroes(node, fd, bytes) }
        }
    }

    private func writeZeroes(_ node: Node, _ fd: Int32, _ range: Range<Int64>) throws(Errno) {
        do { try writeZeroes(fd, range) } catch { throw hostError(error, node) }
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
}
