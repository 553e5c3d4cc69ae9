import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// The parameters of a write.
public struct WriteRequest: Sendable {
    public var offset: Int64
    public var length: Int
    /// From a mapping: it is written as a whole or not at all, since a short answer would be lost.
    public var isMapped: Bool
    /// The caller may not keep set-user-ID and set-group-ID.
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

    /// The part of it below the limit of every file's size. EFBIG if there is none.
    func bounded() throws(Errno) -> WriteRequest {
        guard offset >= 0 else { throw .invalid }
        let room = ByteCount.largestFile.bytes - min(offset, ByteCount.largestFile.bytes)
        guard room > 0, !isMapped || room >= Int64(length) else { throw .fileTooLarge }
        var part = self
        part.length = Int(min(Int64(length), room))
        return part
    }

    /// Consecutive parts of this length, the last one perhaps shorter, each with where its data begins in that of the whole.
    func parts(of size: Int) -> [(request: WriteRequest, start: Int)] {
        stride(from: 0, to: length, by: size).map { start in
            var part = self
            part.offset += Int64(start)
            part.length = min(size, length - start)
            return (part, start)
        }
    }
}

extension FileData {
    /// If nothing has to be purged and no hole arises, the lock is taken only when it begins and when it ends.
    func write(
        _ handle: Handle, _ request: WriteRequest, debt: inout AnnouncementDebt,
        perform: (Int32, Range<Int>) throws(Errno) -> Int
    ) throws(Errno) -> Int {
        guard request.length > 0 else { return 0 }
        if request.isMapped, refusedPages.include(request, of: handle.node) {
            writeOtherPages(handle, request, &debt, perform)
            throw .notPermitted
        }
        try admit(request, to: handle)
        let request = try request.bounded()
        var isAlone = false
        let reservation = beginWrite(request, of: handle.node, isAlone: &isAlone)
        defer { dataOrder.endTurn(of: handle.node, isAlone: isAlone) }
        do throws(Errno) { return try writeBlocks(handle, request, reservation, &debt, perform) } catch {
            if error == .noSpace, request.isMapped { overwritePages(handle, request, &debt, perform) }
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

    /// Returns when it is the write's turn, with what it needs if a look at the numbers was enough to reserve it.
    private func beginWrite(_ request: WriteRequest, of node: Node, isAlone: inout Bool) -> Reservation? {
        let now = clock.now
        let blocks = request.blocks
        var reservation: Reservation?
        dataOrder.awaitTurn { state in
            let io = node.ensuredIO
            if !isAlone, node.isDense, node.missing(in: blocks) == 0, io.unsettled == nil {
                guard io.beginBeside() else { return false }
            } else {
                guard io.beginAlone(&isAlone) else { return false }
            }
            reservation = state.reserve(blocks, for: node, by: request.tid, at: now)
            return true
        }
        return reservation
    }

    /// Overwriting in place always works: pages of a refused write-back that already have blocks are not lost together
    /// with those that find no room.
    private func overwritePages(
        _ handle: Handle, _ request: WriteRequest, _ debt: inout AnnouncementDebt,
        _ perform: (Int32, Range<Int>) throws(Errno) -> Int
    ) {
        for part in request.parts(of: Int(ByteCount.block.bytes)) {
            guard read({ _ in handle.node.missing(in: part.request.blocks) }) == 0 else { continue }
            do throws(Errno) {
                _ = try writeBlocks(handle, part.request, nil, &debt) { (fd, bytes) throws(Errno) in
                    try perform(fd, bytes.lowerBound + part.start..<bytes.upperBound + part.start)
                }
            } catch {}  // the request fails anyway
        }
    }

    /// What was stored in pages beside those of a refused write is not lost together with these.
    private func writeOtherPages(
        _ handle: Handle, _ request: WriteRequest, _ debt: inout AnnouncementDebt,
        _ perform: (Int32, Range<Int>) throws(Errno) -> Int
    ) {
        for part in request.parts(of: Int(getpagesize())) where !refusedPages.include(part.request, of: handle.node) {
            do throws(Errno) {
                _ = try write(handle, part.request, debt: &debt) { (fd, bytes) throws(Errno) in
                    try perform(fd, bytes.lowerBound + part.start..<bytes.upperBound + part.start)
                }
            } catch {}  // the request fails anyway
        }
    }

    /// Reserves what a write needs: what would be a hole, and room, for which files may have to be purged.
    private func prepare(_ request: WriteRequest, _ node: Node, _ fd: Int32) throws(Errno) -> PendingReservation {
        let hole = try charges.readyForHole(node, fd, before: request.blocks.lowerBound)
        let blocks = (hole?.lowerBound ?? request.blocks.lowerBound)..<request.blocks.upperBound
        let sizeBefore = hole == nil ? nil : try System.status(fd).size
        let demand = Demand(blocks: blocks, takesPart: !request.isMapped && hole == nil, tid: request.tid)
        var prepared = try charges.reserve(demand, for: node, wrote: true)
        prepared.reservation.hole = hole
        prepared.reservation.sizeBefore = sizeBefore
        return prepared
    }

    private func writeBlocks(
        _ handle: Handle, _ request: WriteRequest, _ reserved: Reservation?, _ debt: inout AnnouncementDebt,
        _ perform: (Int32, Range<Int>) throws(Errno) -> Int
    ) throws(Errno) -> Int {
        if let reserved { return try write(handle, request, reserved, makingRoom: { () throws(Errno) in }, perform) }
        let prepared = try prepare(request, handle.node, handle.descriptor)
        return try write(
            handle, request, prepared.reservation,
            makingRoom: { () throws(Errno) in try charges.carryOut(prepared.purge, &debt) }, perform)
    }

    /// Writes what has been reserved, and returns the reservation if that fails.
    private func write(
        _ handle: Handle, _ request: WriteRequest, _ reservation: Reservation,
        makingRoom: () throws(Errno) -> Void, _ perform: (Int32, Range<Int>) throws(Errno) -> Int
    ) throws(Errno) -> Int {
        let (node, fd) = (handle.node, handle.descriptor)
        do throws(Errno) {
            try makingRoom()
            if let hole = reservation.hole { try charges.fill(hole, fd) }
            if request.dropsPrivileges { try Privileges.drop(from: fd, tid: request.tid) }
            let granted = Int(min(request.end, ByteCount(blocks: reservation.end).bytes) - request.offset)
            let count = try perform(fd, 0..<granted)
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
