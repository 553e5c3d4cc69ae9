import PurgeModel
import PurgeSystem

/// Purges in the background as long as the pressure calls for it.
struct Reclaimer: VolumeFamily {
    let core: VolumeCore

    /// The body of its thread.
    func run() {
        while !isEnding {
            let seen = core.reclaimerGate.generation
            core.reclaimerIsBusy.store(true, ordering: .sequentiallyConsistent)
            while !isEnding, reclaimOnce() {}
            core.reclaimerIsBusy.store(false, ordering: .sequentiallyConsistent)
            core.purges.advance()
            // Something may have become purgeable while the flag still said that this thread is looking.
            if read({ $0.device.shouldReclaim }) { continue }
            core.reclaimerGate.wait(while: seen)
        }
    }

    /// Purges towards desired. Returns false when there is nothing (more) to do.
    func reclaimOnce() -> Bool {
        openFiles.settleMappings()
        let job = change { state -> PurgeJob? in
            guard state.device.shouldReclaim, let goal = state.device.goal(for: .pressure) else { return nil }
            return state.choose(goal, trigger: .pressure, tid: 0, limit: Purger.batch)
        }
        guard let job else { return false }
        purger.purgeAndWait(job)
        return true
    }

    /// Returns when nothing that pressure calls for is left to do. If there is no reclaiming thread (in a store that is
    /// not mounted), nothing is purged in the background.
    func awaitIdle() {
        guard core.reclaimerRuns.load(ordering: .sequentiallyConsistent) else { return }
        while !isEnding {
            let seen = core.purges.generation
            let isBusy = core.reclaimerIsBusy.load(ordering: .sequentiallyConsistent)
            if !isBusy && read({ !$0.device.shouldReclaim && $0.purgesUnderWay == 0 }) { return }
            core.reclaimerGate.advance()
            core.purges.wait(while: seen, milliseconds: 1000)
        }
    }

    private var isEnding: Bool { core.isEnding.load(ordering: .acquiring) }
}
