import PurgeModel
import PurgeSystem
import PurgeTree

/// Purges in the background as long as the pressure, or the policy of a directory, calls for it.
struct Reclaimer: VolumeFamily {
    let core: VolumeCore

    /// The body of its thread.
    func run() {
        while !isEnding {
            let seen = core.reclaimerGate.generation
            core.reclaimerIsBusy.store(true, ordering: .sequentiallyConsistent)
            while !isEnding, policies.enforceOnce() || reclaimOnce() {}
            core.reclaimerIsBusy.store(false, ordering: .sequentiallyConsistent)
            core.purges.advance()
            // Something may have become purgeable while the flag still said that this thread is looking.
            if hasWork { continue }
            core.reclaimerGate.wait(while: seen)
        }
    }

    /// Purges towards desired. Returns false when there is nothing (more) to do.
    func reclaimOnce() -> Bool {
        openFiles.settleMappings()
        policies.settle()
        let job = change { state -> PurgeJob? in
            let leftToFiles = state.leftToFiles
            state.leftToFiles = .zero
            guard state.device.shouldReclaim, let goal = state.device.goal(for: .pressure) else { return nil }
            let job = state.choose(
                goal, trigger: .pressure, tid: 0, limit: Purger.batch, leftToFiles: leftToFiles)
            state.leftToFiles = job?.picked.leftToFiles ?? .zero
            return job
        }
        guard let job else { return false }
        purger.purgeAndWait(job)
        return true
    }

    /// Returns when nothing that pressure, or a policy, calls for is left to do. If there is no reclaiming thread (in a store that is
    /// not mounted), nothing is purged in the background.
    func awaitIdle() {
        guard core.reclaimerRuns.load(ordering: .sequentiallyConsistent) else { return }
        while !isEnding {
            let seen = core.purges.generation
            let isBusy = core.reclaimerIsBusy.load(ordering: .sequentiallyConsistent)
            if !isBusy, !hasWork, read({ $0.purgesUnderWay == 0 }) { return }
            core.reclaimerGate.advance()
            core.purges.wait(while: seen, milliseconds: 1000)
        }
    }

    /// Whether there is something to purge in the background.
    private var hasWork: Bool { read { $0.device.shouldReclaim || $0.tree.policies.isPending } }

    private var isEnding: Bool { core.isEnding.load(ordering: .acquiring) }
}
