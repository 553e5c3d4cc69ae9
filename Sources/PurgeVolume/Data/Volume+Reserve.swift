import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// What a call wants to put where.
struct Demand {
    /// Blocks that must be charged when it is done.
    var blocks: Range<Int64>
    /// Whether less than all is of use.
    var takesPart: Bool
    var pid: pid_t
}

/// Blocks that have been charged before they are written.
struct Reservation {
    /// The end of the blocks that fit; that of the demand when all fit.
    var end: Int64
    /// What has to be purged before the call goes on.
    var job: PurgeJob?
    /// The last use that the call has noted, and the one before.
    var use: (now: Instant, before: Instant)?
}

extension Volume {
    /// Charges the blocks that are new, or as many of the first as fit; chooses, in the same
    /// step, what must be purged for them. ENOSPC when not one fits that is needed.
    func reserve(_ demand: Demand, for node: Node, wrote: Bool) throws(Errno) -> Reservation {
        if read({ !$0.lingering.isEmpty && isShort(of: demand, for: node, $0) }) { settleMappings() }
        let now = clock.now
        let reservation = try makingRoom(pid: demand.pid) { (room, state) throws(Errno) -> Reservation? in
            let standing = node.standing
            let missing = node.missing(in: demand.blocks)
            let available = state.capacity.available(for: standing.writeClass).wholeBlocks
            var end = demand.blocks.upperBound
            var need = missing
            if missing > available {
                if demand.takesPart {
                    end = node.prefixEnd(of: demand.blocks, missingAtMost: available)
                    need = node.missing(in: demand.blocks.lowerBound..<end)
                }
                if !demand.takesPart || end == demand.blocks.lowerBound {
                    refuse(node, missing, demand.pid, &state)
                    throw .deviceFull
                }
            }
            if need > 0 {
                let short = state.capacity.shortage(for: ByteCount(blocks: need))
                guard cover(short, &room, &state) else { return nil }
                node.part?.extents?.insert(demand.blocks.lowerBound..<end)
                state.charge(node, blocks: need)
                state.actor = .init(pid: demand.pid, node: node)
            }
            let before = node.lastUse
            if wrote { state.noteUse(node, at: now) }
            return Reservation(end: end, job: room.job, use: wrote ? (now, before) : nil)
        }
        if let reservation { return reservation }
        change { refuse(node, node.missing(in: demand.blocks), demand.pid, &$0) }
        throw .deviceFull
    }

    /// A write that failed is no use.
    func withdrawUse(_ reservation: Reservation, of node: Node) {
        guard let use = reservation.use else { return }
        change { _ in
            // Somebody has it open, so it is not among the victims, which are in this order.
            if node.lastUse == use.now, node.heapIndex < 0 { node.lastUse = use.before }
        }
    }

    private func isShort(of demand: Demand, for node: Node, _ state: borrowing VolumeState) -> Bool {
        let missing = ByteCount(blocks: node.missing(in: demand.blocks))
        return missing > state.capacity.available(for: node.standing.writeClass)
            || state.capacity.shortage(for: missing) > .zero
    }

    private func refuse(_ node: Node, _ blocks: Int64, _ pid: pid_t, _ state: inout VolumeState) {
        state.device.noteRefused()
        state.outbox.append(
            Event(
                type: .refused, path: node.path().text, tier: node.standing.tier, bytes: ByteCount(blocks: blocks),
                reason: node.standing.writeClass == .important ? "important" : "opportunistic", pid: pid))
    }

    /// The ledger in line with what the next mount would find, after a call failed or did less than
    /// was reserved. Only what runs alone reserves anything, so nothing of another call is given back.
    /// While the store cannot be read, what was charged stays so, until the file is next changed or closed.
    func settle(_ node: Node, _ descriptor: Int32, _ blocks: Range<Int64>) {
        do throws(Errno) {
            try count(node, descriptor, blocks)
        } catch {
            report("\(error): what it has cannot be counted now", node)
            change { _ in
                let io = node.ensuredIO
                io.unsettled = io.unsettled.map { $0.union(blocks) } ?? blocks
            }
        }
    }

    /// What could not be settled when a call failed.
    func settleAgain(_ node: Node, _ descriptor: Int32) {
        let unsettled = change { _ in
            let blocks = node.io?.unsettled
            if blocks != nil { node.io?.unsettled = nil }
            return blocks
        }
        if let unsettled { settle(node, descriptor, unsettled) }
    }

    private func count(_ node: Node, _ descriptor: Int32, _ blocks: Range<Int64>) throws(Errno) {
        let size = try System.status(descriptor).size
        let (isDense, allocated) = read { _ in (node.isDense, node.io?.extents?.record.runs) }
        let end = max(blocks.lowerBound, min(blocks.upperBound, ByteCount(size).blocks))
        let data = isDense ? ExtentSet() : try dataExtents(of: descriptor, in: blocks.lowerBound..<end)
        change { state in
            guard node.flags.contains(.counted) else { return }
            guard let allocated, var charged = node.part?.extents else {
                if isDense { state.charge(node, blocks: ByteCount(size).blocks - node.blocks) }
                return
            }
            charged.remove(blocks)
            for run in data.runs + allocated.runs { charged.insert(run) }
            node.part?.extents = charged
            node.io?.extents?.size = size
            state.charge(node, blocks: charged.count - node.blocks)
        }
    }

    /// Of a file, to whoever reads the log.
    func report(_ what: String, _ node: Node) {
        let path = read { _ in node.path().text }
        hooks.report(
            StoreError(what, path: "\(store.path)/container/\(path)", advice: "Run: purgefs check \(store.path)"))
    }
}

extension Range<Int64> {
    fileprivate func union(_ other: Range<Int64>) -> Range<Int64> {
        Swift.min(lowerBound, other.lowerBound)..<Swift.max(upperBound, other.upperBound)
    }
}

extension Node {
    /// Blocks of `range` that are not charged yet; under the lock.
    func missing(in range: Range<Int64>) -> Int64 {
        if let charged = part?.extents { return charged.missing(in: range) }
        return max(0, range.upperBound - max(range.lowerBound, blocks))
    }

    func gaps(in range: Range<Int64>) -> ExtentSet {
        if let charged = part?.extents { return charged.gaps(in: range) }
        return ExtentSet(max(range.lowerBound, min(blocks, range.upperBound))..<range.upperBound)
    }

    func prefixEnd(of range: Range<Int64>, missingAtMost limit: Int64) -> Int64 {
        if let charged = part?.extents { return charged.prefixEnd(of: range, missingAtMost: limit) }
        return min(range.upperBound, max(range.lowerBound, blocks) + limit)
    }
}
