import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// How a write is to be taken.
public struct WriteRequest: Sendable {
    public var offset: Int64
    public var length: Int
    /// From a mapping: whole or not at all, since a short answer would be lost.
    public var isMapped: Bool
    /// The caller may not keep set-user-ID and set-group-ID.
    public var dropsPrivileges: Bool
    public var pid: pid_t

    public init(offset: Int64, length: Int, isMapped: Bool, dropsPrivileges: Bool, pid: pid_t) {
        self.offset = offset
        self.length = length
        self.isMapped = isMapped
        self.dropsPrivileges = dropsPrivileges
        self.pid = pid
    }

    var end: Int64 { offset + Int64(length) }
    var blocks: Range<Int64> {
        offset / ByteCount.block.bytes..<max(ByteCount(end).blocks, offset / ByteCount.block.bytes)
    }
}

/// What a call did, and the purged names that the kernel must know of before it is answered.
public struct WriteOutcome: Sendable {
    public var count: Int
    public var removals: [Removal]
}

extension Volume {
    /// Writes as much as fits: `perform` gets the descriptor and which bytes of the request to write.
    public func write(
        _ handle: Handle, _ request: WriteRequest, perform: (Int32, Range<Int>) throws(Errno) -> Int
    ) throws(Errno) -> WriteOutcome {
        guard request.length > 0 else { return WriteOutcome(count: 0, removals: []) }
        return try inWriteOrder(with: handle.node, request.blocks) { () throws(Errno) in
            do throws(Errno) { return try writeBlocks(handle, request, perform) } catch {
                if error == .noSpace, request.isMapped { overwritePages(handle, request, perform) }
                throw error
            }
        }
    }

    /// Overwriting in place always works: the pages of a refused write-back that have their blocks
    /// already are not lost with those that find no room.
    private func overwritePages(
        _ handle: Handle, _ request: WriteRequest, _ perform: (Int32, Range<Int>) throws(Errno) -> Int
    ) {
        let page = Int(ByteCount.block.bytes)
        for start in stride(from: 0, to: request.length, by: page) {
            var part = request
            part.offset += Int64(start)
            part.length = min(page, request.length - start)
            guard state.withLock({ _ in handle.node.missing(in: part.blocks) }) == 0 else { continue }
            do throws(Errno) {
                _ = try writeBlocks(handle, part) { (fd, bytes) throws(Errno) in
                    try perform(fd, bytes.lowerBound + start..<bytes.upperBound + start)
                }
            } catch {}  // the request has failed anyway
        }
    }

    private func writeBlocks(
        _ handle: Handle, _ request: WriteRequest, _ perform: (Int32, Range<Int>) throws(Errno) -> Int
    ) throws(Errno) -> WriteOutcome {
        let node = handle.node
        try checkEnd(request.end)
        try readyForHole(node, handle.descriptor, before: request.blocks.lowerBound, pid: request.pid)
        let demand = Demand(blocks: request.blocks, takesPart: !request.isMapped, pid: request.pid)
        let reservation = try reserve(demand, for: node, wrote: true)
        let granted = Int(min(request.end, reservation.end * ByteCount.block.bytes) - request.offset)
        let removals = try carryOut(reservation, for: node, handle.descriptor, request.blocks)
        let oldSize = kind.fillsGrownTail ? sparseSize(node) : nil
        do throws(Errno) {
            if request.dropsPrivileges { try dropPrivileges(handle.descriptor, pid: request.pid) }
            let count = try perform(handle.descriptor, 0..<granted)
            if count < granted { settle(node, handle.descriptor, request.blocks) }
            if let oldSize, oldSize < request.offset { try emptyGrownTail(node, handle.descriptor, oldSize) }
            if !node.isDenseNow(state) {
                try noteWritten(node, handle.descriptor, end: request.offset + Int64(count))
            }
            return WriteOutcome(count: count, removals: removals)
        } catch {
            settle(node, handle.descriptor, request.blocks)
            announce(removals)
            throw hostError(error, node)
        }
    }

    /// The purge that a reservation asks for. When it fails, what was reserved is given back.
    func carryOut(
        _ reservation: Reservation, for node: Node, _ descriptor: Int32, _ blocks: Range<Int64>
    ) throws(Errno) -> [Removal] {
        guard let job = reservation.job else { return [] }
        let done = carryOut(job)
        guard done.hasFailed else { return done.removals }
        settle(node, descriptor, blocks)
        announce(done.removals)
        throw .input
    }

    /// ENOSPC means the simulated device and nothing else (SPEC section 2): a full disk under the
    /// store is EIO, with an event.
    func hostError(_ error: Errno, _ node: Node) -> Errno {
        guard error.code == ENOSPC || error.code == EDQUOT else { return error }
        events.append([Event(type: .hostFull, path: state.withLock { _ in node.path().text })])
        return .input
    }
}
