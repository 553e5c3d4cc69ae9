import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

// The files of a purge are chosen under the lock. From then on, no later call can use a chosen file until the purge is done
// with it, and its bytes count as free instead of reclaimable.
extension VolumeState {
    /// Decides on a purge, or on its first `limit` files. Returns nil if it takes nothing.
    mutating func choose(
        _ goal: PurgeGoal, trigger: PurgeTrigger, tid: pid_t, limit: Int = .max,
        spared: ClosedRange<Instant>? = nil, leftToFiles: ByteCount = .zero
    ) -> Purge? {
        let order = device.order(for: goal, trigger)
        let plan = take(goal, in: order, limit: limit, spared: spared, leftToFiles: leftToFiles)
        return begin(plan, trigger: trigger, tid: tid)
    }

    /// Plans a purge. Takes its files out of the ledger, and its part of others.purgeable out of others. `leftToFiles` is the
    /// number of bytes that earlier steps of the same purge left to files.
    mutating func take(
        _ goal: PurgeGoal, in order: PurgeOrder, limit: Int = .max, spared: ClosedRange<Instant>? = nil,
        leftToFiles: ByteCount = .zero
    ) -> PurgePlan<Node> {
        var plan = PurgePlan<Node>(
            goal, in: order, othersPurgeable: device.othersPurgeable,
            share: OthersShare(percent: device.othersShare, leftToFiles: leftToFiles), limit: limit,
            nextFolder: { tree.nextFolder(spared: spared, in: order) },
            next: { tree.popVictim(step: $0, spared: spared, in: order) })
        tree.accounts.takeFromOthers(plan.allFromOthers)
        for victim in plan.victims { tree.choose(victim.file) }
        plan.passedOver = Bystander.passedOver(by: plan.victims, order, in: self)
        return plan
    }

    /// Takes a file out of the ledger, for a command or a policy.
    mutating func take(_ node: Node, for reason: PurgeReason? = nil) -> Victim<Node> {
        let victim = self[node].victim(for: reason)
        tree.choose(node)
        return victim
    }

    /// Chooses files to purge so that a write to `node` gets `short` more bytes. Returns false if one step is not enough.
    mutating func cover(_ short: ByteCount, of node: Node, tid: pid_t, _ purge: inout Purge?) -> Bool {
        guard short > .zero else { return true }
        let left = purge?.plan.leftToFiles ?? .zero
        let step = take(.bytes(short), in: .documented, limit: Purger.batch, leftToFiles: left)
        if purge == nil {
            purge = begin(step, trigger: .importantWrite, tid: tid, for: node)
        } else {
            purge?.plan.add(step)
        }
        return step.freed >= short
    }
}
