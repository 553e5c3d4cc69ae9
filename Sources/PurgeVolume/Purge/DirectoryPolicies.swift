import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Synchronization

/// Carries out the policies of directories (docs/POLICIES.md).
struct DirectoryPolicies: VolumeFamily {
    let core: VolumeCore

    /// Gives files the rank that they have now, because they have reached an age or their directory a limit, before any
    /// are chosen or planned. It holds the lock for some of them at a time. `ages` is whether files of `tmp` are looked at
    /// for their age, though the profile does not ask for it.
    func settle(ages: Bool = false) {
        guard ages || core.hasPolicies.load(ordering: .relaxed) || core.agesTemporary.load(ordering: .relaxed) else {
            return
        }
        let now = clock.now
        guard !read({ $0.tree.isSettled(at: now, ages: ages) }) else { return }
        while change({ $0.tree.advance(to: now, limit: Purger.batch, ages: ages) }) {}
    }

    /// Takes what has reached its age by now, and what is over a size; returns when that is gone. In a mount its thread
    /// for that does it.
    func check() {
        openFiles.settleMappings()
        settle()
        change { state in
            while state.tree.advance(to: clock.now) {}
            state.tree.policies.check()
        }
        if core.reclaimerRuns.load(ordering: .sequentiallyConsistent) {
            Reclaimer(core: core).awaitPolicies()
        } else {
            while enforceOnce() {}
        }
    }

    /// Purges some of the files that a policy takes now. Returns false if there are none.
    func enforceOnce() -> Bool {
        guard read({ $0.tree.policies.isPending }) else { return false }
        let purge = change { state -> Purge? in
            var plan = PurgePlan<Node>()
            while plan.victims.count < Purger.batch, let next = state.tree.policies.nextVictim() {
                plan.add(state.take(next.node, for: next.breach.reason))
            }
            return state.begin(plan, trigger: .policy, tid: 0)
        }
        guard let purge else { return false }
        purger.purgeAndWait(purge)
        return true
    }

    /// Empties each directory that has a policy, whatever is open there. They stay, with their policies.
    func reset(_ pid: pid_t) {
        let folders = read { state in
            state.tree.policies.all.map(\.directory).filter { folder in
                !(state[folder].parent.map { state[$0].isUnderPolicy } ?? false)
            }
        }
        purgedNames.awaitingAnnouncements { debt in
            for folder in folders { _ = EmptiedFolder(core: core, work: .policy(folder), pid: pid).empty(&debt) }
        }
    }
}

extension VolumeCore {
    /// In the order of the paths. The lock is held for some of them at a time.
    func policiesText() -> String {
        let indexes = read { $0.tree.policies.indexes }
        let lines = PurgeSelections(core: self).inSlices(indexes) {
            index, state -> (path: [UInt8], line: PolicyLine)? in
            guard state[index.directory].policy != nil else { return nil }
            let path = state[index.directory].path()
            let use = state.tree.policies.use(of: index)
            return (path.bytes, PolicyLine(path: path.text, use.policy, used: use.used, files: use.files))
        }
        return lines.sorted { $0.path.lexicographicallyPrecedes($1.path) }.map { JSONText.encode($0.line) + "\n" }
            .joined()
    }
}
