import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// The parameters of a write.
public struct WriteRequest: Sendable {
    public var offset: Int64
    public var length: Int
    /// The offset of this part's data within the data of the whole request.
    var start = 0
    /// Whether the data comes from a mapping. The request then succeeds as a whole or fails, because the kernel would ignore a
    /// short answer and lose the rest.
    public var isMapped: Bool
    /// Whether the caller may not keep set-user-ID and set-group-ID.
    public var dropsPrivileges: Bool
    public var tid: pid_t

    public init(offset: Int64, length: Int, isMapped: Bool, dropsPrivileges: Bool, tid: pid_t) {
        self.offset = offset
        self.length = length
        self.isMapped = isMapped
        self.dropsPrivileges = dropsPrivileges
        self.tid = tid
    }

    var end: Int64 { (ByteCount(offset) + ByteCount(Int64(length))).bytes }
    var blocks: Range<Int64> { ByteCount(offset).wholeBlocks..<ByteCount(end).blocks }

    /// Returns the part of the write below the maximum file size. EFBIG if there is none, or if a write from a mapping exceeds
    /// that size.
    func bounded() throws(Errno) -> WriteRequest {
        guard offset >= 0 else { throw .invalid }
        let room = ByteCount.largestFile.bytes - min(offset, ByteCount.largestFile.bytes)
        guard room > 0, !isMapped || room >= Int64(length) else { throw .fileTooLarge }
        var part = self
        part.length = Int(min(Int64(length), room))
        return part
    }

    /// Returns consecutive parts of length `size`; the last one may be shorter.
    func parts(of size: Int) -> [WriteRequest] {
        stride(from: 0, to: length, by: size).map { done in
            var part = self
            part.offset += Int64(done)
            part.start += done
            part.length = min(size, length - done)
            return part
        }
    }
}

extension FileData {
    /// Writes data. If nothing has to be purged and the file is dense and stays so, the lock is taken only at the beginning and
    /// at the end.
    func write(
        _ handle: Handle, _ request: WriteRequest, _ data: some WriteData, debt: inout AnnouncementDebt
    ) throws(Errno) -> Int {
        guard request.length > 0 else { return 0 }
        if request.isMapped, refusedPages.include(request, of: handle.node) {
            writeOtherPages(handle, request, data, &debt)
            throw .notPermitted
        }
        try admit(request, to: handle)
        let request = try request.bounded()
        var isAlone = false
        let reservation = beginWrite(request, of: handle.node, isAlone: &isAlone)
        defer { dataOrder.endTurn(of: handle.node, isAlone: isAlone) }
        do throws(Errno) { return try writeBlocks(handle, request, data, reservation, &debt) } catch {
            if error == .noSpace, request.isMapped { overwritePages(handle, request, data, &debt) }
            throw error
        }
    }

    @inline(__always)
    private func admit(_ request: WriteRequest, to handle: Handle) throws(Errno) {
        if request.isMapped { return try protection.admitWriteBack(to: handle.node, by: request.tid) }
        do throws(Errno) { try protection.admit(.use, to: handle.node, by: request.tid) } catch {
            refusedPages.drop(of: handle, request)
            throw error
        }
    }

    /// Waits for the write's turn. Returns its reservation, or nil if the reservation first requires a purge, preparation for a
    /// hole, or settling an earlier failure.
    private func beginWrite(_ request: WriteRequest, of node: Node, isAlone: inout Bool) -> Reservation? {
        let now = clock.now
        let blocks = request.blocks
        var reservation: Reservation?
        dataOrder.awaitTurn { state in
            if !isAlone, state[node].isDense, state[node].missing(in: blocks) == 0, !state[node].isUnsettled {
                guard state[node].beginBeside() else { return false }
            } else {
                guard state[node].beginAlone(&isAlone) else { return false }
            }
            reservation = state.reserve(blocks, for: node, by: request.tid, at: now)
            return true
        }
        return reservation
    }

    /// Writes the pages of a refused write-back that already have blocks. Overwriting in place always works, so they are not
    /// lost together with the pages for which there is no room.
    private func overwritePages(
        _ handle: Handle, _ request: WriteRequest, _ data: some WriteData, _ debt: inout AnnouncementDebt
    ) {
        for part in request.parts(of: Int(ByteCount.block.bytes)) {
            guard read({ $0[handle.node].missing(in: part.blocks) }) == 0 else { continue }
            // Errors are dropped: the request fails anyway.
            do throws(Errno) { _ = try writeBlocks(handle, part, data, nil, &debt) } catch {}
        }
    }

    /// Writes the pages of the request that no refused write has changed, so that their data is not lost with the others.
    private func writeOtherPages(
        _ handle: Handle, _ request: WriteRequest, _ data: some WriteData, _ debt: inout AnnouncementDebt
    ) {
        for part in request.parts(of: Int(getpagesize())) where !refusedPages.include(part, of: handle.node) {
            // Errors are dropped: the request fails anyway.
            do throws(Errno) { _ = try write(handle, part, data, debt: &debt) } catch {}
        }
    }

    /// Reserves the room that a write needs, including blocks before it that would be a hole and must be allocated. This may
    /// purge files.
    private func prepare(
        _ request: WriteRequest, _ node: Node, _ fd: Int32, _ debt: inout AnnouncementDebt
    ) throws(Errno) -> Reservation {
        let hole = try charges.readyForHole(node, fd, before: request.blocks.lowerBound)
        let blocks = (hole?.lowerBound ?? request.blocks.lowerBound)..<request.blocks.upperBound
        let sizeBefore = hole == nil ? nil : try System.status(fd).size
        let demand = Demand(blocks: blocks, takesPart: !request.isMapped && hole == nil, tid: request.tid)
        var reservation = try charges.reserve(demand, for: node, fd, wrote: true, &debt)
        reservation.hole = hole
        reservation.sizeBefore = sizeBefore
        return reservation
    }

    /// Writes the reserved blocks, and gives up the reservation if that fails. Without `reserved`, the reservation is made
    /// first.
    private func writeBlocks(
        _ handle: Handle, _ request: WriteRequest, _ data: some WriteData, _ reserved: Reservation?,
        _ debt: inout AnnouncementDebt
    ) throws(Errno) -> Int {
        let (node, fd) = (handle.node, handle.descriptor)
        let reservation: Reservation
        if let reserved { reservation = reserved } else { reservation = try prepare(request, node, fd, &debt) }
        do throws(Errno) {
            if let hole = reservation.hole { try charges.fill(hole, fd) }
            if request.dropsPrivileges { try Privileges.drop(from: fd, tid: request.tid) }
            let granted = Int(min(request.end, ByteCount(blocks: reservation.end).bytes) - request.offset)
            let count = try data.put(request.start..<request.start + granted, into: fd, at: request.offset)
            if count < granted { charges.settle(node, fd, reservation.blocks) }
            if let oldSize = reservation.sparseSize {
                if kind.fillsGrownTail, oldSize < request.offset { fileSpace.emptyGrownTail(node, fd, oldSize) }
                charges.noteWritten(node, fd, end: request.offset + Int64(count))
            }
            return count
        } catch {
            if let sizeBefore = reservation.sizeBefore { charges.takeBack(pastSize: sizeBefore, fd) }
            charges.settle(node, fd, reservation.blocks)
            charges.withdrawUse(reservation, of: node)
            throw access.hostError(error, node)
        }
    }
}
