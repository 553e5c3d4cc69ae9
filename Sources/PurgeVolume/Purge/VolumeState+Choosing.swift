import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

// What a purge takes is decided in one step.
extension VolumeState {
    /// Decides a purge, or `limit` files of it: from here on its files no longer exist for later calls, and their bytes
    /// go from reclaimable to free in this one step. The plan comes from PurgePlan.
    mutating func choose(
        _ goal: PurgeGoal, trigger: PurgeTrigger, tid: pid_t, limit: Int = .max,
        spared: ClosedRange<Instant>? = nil, leftToFiles: ByteCount = .zero
    ) -> PurgeJob? {
        let order = device.order(for: goal, trigger)
        let picked = pick(goal, order, limit: limit, spared: spared, leftToFiles: leftToFiles)
        return picked.isEmpty ? nil : begin(picked, trigger: trigger, tid: tid)
    }

    /// `leftToFiles` is what earlier steps of the same purge have left to files.
    mutating func pick(
        _ goal: PurgeGoal, _ order: PurgeOrder, limit: Int, spared: ClosedRange<Instant>? = nil,
        leftToFiles: ByteCount = .zero
    ) -> Picked {
        let share = OthersShare(percent: device.othersShare, leftToFiles: leftToFiles)
        let plan = PurgePlan<Node>(
            goal: goal, othersPurgeable: device.othersPurgeable, share: share, limit: limit,
            takesCachesWhole: order.takesCachesWhole,
            next: { tree.popVictim(step: $0, spared: spared, in: order) })
        tree.accounts.takeFromOthers(plan.fromOthers + plan.restOfOthers)
        let victims = plan.items.compactMap { victim($0.id, $0.reason) }
        return Picked(
            fromOthers: plan.fromOthers, victims: victims, restOfOthers: plan.restOfOthers,
            leftToFiles: plan.leftToFiles, leavesCaches: plan.leavesCaches,
            unfinished: plan.unfinished.map { [BegunGroup($0, order)] } ?? [],
            passedOver: Bystander.passedOver(by: victims, order, handles))
    }

    /// A file that has been chosen leaves the ledger.
    mutating func victim(_ node: Node, _ reason: PurgeReason) -> PurgeJob.Victim? {
        guard let directory = node.parent else { return nil }
        let leavesTombstone = node.isRegular && node.standing.leavesTombstone
        let victim = PurgeJob.Victim(
            node: node, directory: directory, name: node.name, reason: reason, bytes: node.charged,
            tier: node.standing.tier, lastUse: node.lastUse,
            leavesTombstone: leavesTombstone)
        tree.choose(node, keepingName: leavesTombstone)
        return victim
    }

    /// Chooses what must be purged for `short` more bytes. Returns false if one step is not enough.
    mutating func cover(_ short: ByteCount, _ room: inout Room) -> Bool {
        guard short > .zero else { return true }
        let left = room.job?.picked.leftToFiles ?? .zero
        let plan = pick(.bytes(short), .documented, limit: Purger.batch, leftToFiles: left)
        if room.job == nil {
            guard !plan.isEmpty else { return false }
            room.job = begin(Picked(), trigger: .importantWrite, tid: room.tid, for: room.node)
        }
        room.job?.picked.add(plan)
        room.setAside += plan.freed
        return plan.freed >= short
    }
}

// Which files could be removed from the store, and which could not.
extension VolumeState {
    /// A ghost of a name that is gone stays until the kernel has been told.
    mutating func removal(of node: Node, _ dentry: Dentry, _ path: [Name], isEmptied: Bool = false) -> Removal {
        let removal = Removal(
            directory: dentry.directory, node: node, name: dentry.name, path: path, isEmptied: isEmptied,
            concernsKernel: dentry.directory.parent == nil || dentry.directory.lookups > 0)
        if removal.concernsKernel, !isEmptied {
            ghosts[.init(directory: ObjectIdentifier(removal.directory), name: removal.name)] = removal.node
        }
        return removal
    }
}
