import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Synchronization

/// Carries out the policies of directories (docs/POLICIES.md).
struct DirectoryPolicies: VolumeFamily {
    let core: VolumeCore

    /// Updates the rank of files that have reached an age, or whose directory has reached a limit. Called before files are
    /// chosen for a purge or a plan, and before control files report numbers. Works in batches, and releases the lock between
    /// them.
    func settle() {
        guard core.hasPolicies.load(ordering: .relaxed) else { return }
        let now = clock.now
        guard !read({ $0.tree.isSettled(at: now) }) else { return }
        while change({ $0.tree.advance(to: now, limit: Purger.batch) }) {}
    }

    /// Begins to carry out the policies: purges the files that have reached the age by now and, where a directory has reached
    /// its size limit, the oldest files. The reclaimer's thread purges them; without one, they are gone when this returns.
    func begin() {
        openFiles.settleMappings()
        settle()
        change { state in
            while state.tree.advance(to: clock.now) {}
            state.tree.policies.check()
        }
        if !core.reclaimerRuns.load(ordering: .sequentiallyConsistent) { while enforceOnce() {} }
    }

    /// Carries out the policies as `begin` does, and returns when the files are gone.
    func check() {
        begin()
        Reclaimer(core: core).awaitPolicies()
    }

    /// Purges at most one batch of the files that policies take now. Returns false if there are none.
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

    /// Empties each directory that has a policy, open files included. The directories stay, with their policies.
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
    /// Returns one line for each policy, in the order of the paths. Works in batches, and releases the lock between them.
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
