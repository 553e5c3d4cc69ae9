import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// The blocks that a call needs.
struct Demand {
    /// The blocks that must be charged when the call is done.
    var blocks: Range<Int64>
    /// Whether the call can use the first blocks if not all fit.
    var takesPart: Bool
    var tid: pid_t
}

/// Blocks that have been charged before they are written. The value contains no references, so it is cheap to pass on.
struct Reservation {
    /// The blocks of the demand.
    var blocks: Range<Int64>
    /// The end of the blocks that fit; the end of the demand if all fit.
    var end: Int64
    /// The previous size of a file that is not dense.
    var sparseSize: Int64?
    /// The blocks that would be a hole and must be allocated, and the size to restore if the call fails.
    var hole: Range<Int64>?
    var sizeBefore: Int64?
    /// The last use that the call has noted, and the previous one.
    var use: (now: Instant, before: Instant)?
}

/// The charge of files: reserved before a write, and settled after a failure.
struct ChargedBlocks: VolumeFamily {
    let core: VolumeCore

    /// Charges the new blocks, or only the first ones that fit if the demand permits that. Chooses the files to purge for them
    /// in the same step, and purges these files afterwards. Throws ENOSPC if the blocks do not fit or, when the demand permits
    /// a part, if not even the first one fits. Throws EIO, with nothing charged, if too many files could not be removed.
    func reserve(
        _ demand: Demand, for node: Node, _ descriptor: Int32, wrote: Bool, _ debt: inout AnnouncementDebt
    ) throws(Errno) -> Reservation {
        // The file itself is open, except in truncate(2) of a path.
        if read({ $0.openFiles > 1 && !$0.hasRoom(for: $0[node].missing(in: demand.blocks), of: node) }) {
            openFiles.settleMappings()
        }
        var purge: Purge?
        var batch: UInt64?
        defer { debt.batch = batch ?? debt.batch }
        let reservation = try reserve(demand, for: node, wrote: wrote, &purge, &batch)
        if let purge, !purger.carryOut(purge, &debt) {
            settle(node, descriptor, reservation.blocks)
            withdrawUse(reservation, of: node)
            throw .ioError
        }
        return reservation
    }

    private func reserve(
        _ demand: Demand, for node: Node, wrote: Bool, _ purge: inout Purge?, _ batch: inout UInt64?
    ) throws(Errno) -> Reservation {
        if !retries.areSome {
            return try attempt(demand, for: node, wrote: wrote, isLast: true, &purge, &batch)
        }
        do throws(Errno) {
            return try attempt(demand, for: node, wrote: wrote, isLast: false, &purge, &batch)
        } catch {
            guard error == .deviceFull else { throw error }
        }
        // Files that other retried calls keep open are skipped, but only for a moment.
        port.expectSlowWork()
        retries.awaitOthers(than: demand.tid)
        return try attempt(demand, for: node, wrote: wrote, isLast: true, &purge, &batch)
    }

    /// Tries once to reserve the blocks. A lack of room is noted as a refusal only if this is the last attempt.
    private func attempt(
        _ demand: Demand, for node: Node, wrote: Bool, isLast: Bool, _ purge: inout Purge?, _ batch: inout UInt64?
    ) throws(Errno) -> Reservation {
        let now = clock.now
        policies.settle()
        let reservation = try purger.makingRoom(for: node, &purge) {
            (purge, state) throws(Errno) -> Reservation? in
            let standing = state[node].standing
            let missing = state[node].missing(in: demand.blocks)
            let available = state.capacity.available(for: standing.writeClass).wholeBlocks
            if state.reclaimedBatch.bytes > .zero, missing > 0, !state.hasRoom(for: missing, of: node) {
                batch = state.reclaimedBatch.number
            }
            var end = demand.blocks.upperBound
            var need = missing
            if missing > available {
                if demand.takesPart {
                    end = state[node].prefixEnd(of: demand.blocks, missingAtMost: available)
                    need = state[node].missing(in: demand.blocks.lowerBound..<end)
                }
                if !demand.takesPart || end == demand.blocks.lowerBound {
                    if isLast { state.refuse(node, missing, demand) }
                    throw .deviceFull
                }
            }
            if need > 0 {
                let short = state.capacity.shortage(for: ByteCount(blocks: need))
                guard state.cover(short, of: node, tid: demand.tid, &purge) else { return nil }
                state.charge(node, demand.blocks.lowerBound..<end, by: demand.tid)
            }
            var reservation = Reservation(blocks: demand.blocks, end: end, sparseSize: state[node].sparseSize)
            if wrote { reservation.use = state.noteWrite(node, at: now) }
            return reservation
        }
        if let reservation { return reservation }
        if isLast { change { $0.refuse(node, $0[node].missing(in: demand.blocks), demand) } }
        throw .deviceFull
    }

    /// Takes back the use that a write has noted: a failed write is not a use.
    func withdrawUse(_ reservation: Reservation, of node: Node) {
        guard let use = reservation.use else { return }
        change { state in state.tree.takeBackUse(of: node, at: use.now, before: use.before) }
    }

    /// Brings the ledger in line with what the next mount would find, after a call has failed or done less than was reserved.
    /// Only calls that run alone reserve new blocks, so this releases no blocks of another call. If the store cannot be read,
    /// the charge stays as it is until the file is next changed or closed.
    func settle(_ node: Node, _ descriptor: Int32, _ blocks: Range<Int64>) {
        do throws(Errno) {
            try count(node, descriptor, blocks)
        } catch {
            access.report("\(error): its blocks cannot be counted now", node)
            change { state in
                state[node].io.unsettled = state[node].io.unsettled.map { $0.union(blocks) } ?? blocks
            }
        }
    }

    /// Settles the blocks that could not be settled when a call failed.
    func settleAgain(_ node: Node, _ descriptor: Int32) {
        let unsettled = change { state in
            let blocks = state[node].io.unsettled
            if blocks != nil { state[node].io.unsettled = nil }
            return blocks
        }
        if let unsettled { settle(node, descriptor, unsettled) }
    }

    private func count(_ node: Node, _ descriptor: Int32, _ blocks: Range<Int64>) throws(Errno) {
        let size = try System.status(descriptor).size
        let (isDense, allocated) = read { ($0[node].isDense, $0[node].io.extents?.record.runs) }
        let end = max(blocks.lowerBound, min(blocks.upperBound, ByteCount(size).blocks))
        let data = isDense ? ExtentSet() : try dataExtents(of: descriptor, in: blocks.lowerBound..<end)
        change { state in
            guard state[node].isCounted else { return }
            guard let allocated, !state[node].isDense else {
                if isDense { state.tree.resize(node, toBlocks: ByteCount(size).blocks) }
                return
            }
            state.tree.recharge(node, blocks, as: data.runs + allocated.runs)
            state[node].io.extents?.size = size
        }
    }
}

extension VolumeState {
    /// Charges the blocks of a write, and notes the use. Returns nil if they do not fit without a purge, if an earlier failure
    /// is unsettled, or if the write would leave a hole that the file is not ready for.
    mutating func reserve(
        _ blocks: Range<Int64>, for node: Node, by tid: pid_t, at now: Instant
    ) -> Reservation? {
        guard !self[node].isUnsettled, !self[node].wouldSkip(before: blocks.lowerBound) else { return nil }
        let missing = self[node].missing(in: blocks)
        guard missing == 0 || hasRoom(for: missing, of: node) else { return nil }
        if missing > 0 { charge(node, blocks, by: tid) }
        return Reservation(
            blocks: blocks, end: blocks.upperBound, sparseSize: self[node].sparseSize, use: noteWrite(node, at: now))
    }

    /// Whether this many more blocks fit without a purge, and without the room of files that may still be seen.
    @inline(__always)
    func hasRoom(for blocks: Int64, of node: Node) -> Bool {
        tree.accounts.hasRoom(for: ByteCount(blocks: blocks) + reclaimedBatch.bytes, as: self[node].standing.writeClass)
    }

    fileprivate mutating func charge(_ node: Node, _ blocks: Range<Int64>, by tid: pid_t) {
        tree.charge(node, blocks)
        actor = .init(tid: tid, node: node)
    }

    fileprivate mutating func refuse(_ node: Node, _ blocks: Int64, _ demand: Demand) {
        tree.accounts.noteRefused(ByteCount(blocks: blocks), takesPart: demand.takesPart)
        // The events of purges for this write, if there are any, name it as their cause.
        if pressureCause == nil, device.reclaiming.refusedNeed > .zero, device.shouldReclaim {
            pressureCause = PressureCause(Actor(tid: demand.tid, node: node), in: self)
        }
        outbox.append(.refused(node, blocks, by: demand.tid, self))
    }

    fileprivate mutating func noteWrite(_ node: Node, at now: Instant) -> (now: Instant, before: Instant) {
        defer { tree.noteUse(node, at: now) }
        return (now, self[node].lastUse)
    }
}

extension Event {
    fileprivate static func refused(
        _ node: Node, _ blocks: Int64, by tid: pid_t, _ state: borrowing VolumeState
    ) -> Event {
        let standing = state[node].standing
        return Event(
            type: .refused, path: state[node].path().text, tier: standing.tier, bytes: ByteCount(blocks: blocks),
            reason: standing.writeClass == .important ? "important" : "opportunistic", pid: tid,
            pressure: state.device.level)
    }
}

extension Range<Int64> {
    fileprivate func union(_ other: Range<Int64>) -> Range<Int64> {
        Swift.min(lowerBound, other.lowerBound)..<Swift.max(upperBound, other.upperBound)
    }
}

extension NodeState {
    /// Whether a write that begins at `block` would leave a hole that the file cannot have, or not yet. A dense file needs a
    /// record first, and a file that is passed through must have no hole. Any other file with a record is ready.
    func wouldSkip(before block: Int64) -> Bool { (isDense || isPassed) && block > blocksToEnd }

    /// The number of blocks up to the file's end. A passed-through file has all of them, and perhaps some past its end.
    var blocksToEnd: Int64 { sparseSize.map { ByteCount($0).blocks } ?? blocks }
}
