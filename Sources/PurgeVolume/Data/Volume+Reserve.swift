import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

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
}

extension Volume {
    /// Charges the blocks that are new, or as many of the first as fit; chooses, in the same
    /// step, what must be purged for them. ENOSPC when not one fits that is needed.
    func reserve(_ demand: Demand, for node: Node, wrote: Bool) throws(Errno) -> Reservation {
        let now = Instant(nanoseconds: System.now())
        return try change { (state) throws(Errno) in
            let standing = node.standing
            let missing = node.missing(in: demand.blocks)
            let room = state.capacity.available(for: standing.writeClass).wholeBlocks
            var end = demand.blocks.upperBound
            var need = missing
            if missing > room {
                if demand.takesPart {
                    end = node.prefixEnd(of: demand.blocks, missingAtMost: room)
                    need = node.missing(in: demand.blocks.lowerBound..<end)
                }
                if !demand.takesPart || end == demand.blocks.lowerBound {
                    refuse(node, missing, demand.pid, &state)
                    throw .noSpace
                }
            }
            var job: PurgeJob?
            if need > 0 {
                let short = state.capacity.shortage(for: ByteCount(blocks: need))
                if short > .zero {
                    job = choose(.bytes(short), trigger: .importantWrite, pid: demand.pid, &state)
                }
                node.part?.extents?.charged.insert(demand.blocks.lowerBound..<end)
                state.charge(node, blocks: need)
            }
            if wrote { state.noteUse(node, at: now) }
            return Reservation(end: end, job: job)
        }
    }

    private func refuse(_ node: Node, _ blocks: Int64, _ pid: pid_t, _ state: inout VolumeState) {
        state.counters.refusedWrites += 1
        state.outbox.append(
            Event(
                type: .refused, path: node.path().text, tier: node.standing.tier, bytes: ByteCount(blocks: blocks),
                reason: node.standing.writeClass == .important ? "important" : "opportunistic", pid: pid))
    }

    /// The ledger in line with the backing again, after a call failed or did less than was reserved.
    /// Only what runs alone reserves anything, so nothing of another call is given back.
    func settle(_ node: Node, _ descriptor: Int32, _ blocks: Range<Int64>) {
        if node.isDenseNow(state) {
            guard let status = try? System.status(descriptor) else { return }
            change { state in
                guard node.isDense else { return }
                state.charge(node, blocks: ByteCount(Int64(status.st_size)).blocks - node.blocks)
            }
            return
        }
        guard let data = try? dataExtents(of: descriptor, in: blocks) else { return }
        change { state in
            guard let extents = node.part?.extents else { return }
            var charged = extents.charged
            charged.remove(blocks)
            charged = charged.union(data)
            for run in extents.record.runs.runs { charged.insert(run) }
            node.part?.extents?.charged = charged
            state.charge(node, blocks: charged.count - node.blocks)
        }
    }
}

extension Node {
    /// Blocks of `range` that are not charged yet; under the lock.
    func missing(in range: Range<Int64>) -> Int64 {
        if let extents = part?.extents { return extents.charged.missing(in: range) }
        return max(0, range.upperBound - max(range.lowerBound, blocks))
    }

    func prefixEnd(of range: Range<Int64>, missingAtMost limit: Int64) -> Int64 {
        if let extents = part?.extents { return extents.charged.prefixEnd(of: range, missingAtMost: limit) }
        return min(range.upperBound, max(range.lowerBound, blocks) + limit)
    }
}
