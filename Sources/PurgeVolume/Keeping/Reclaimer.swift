import PurgeModel
import PurgeSystem

/// Purges in the background for as long as the pressure asks for it.
struct Reclaimer: VolumeFamily {
    let core: VolumeCore

    /// Victims of one background purge at most, so that nobody waits long for a name.
    private static let batch = 256

    /// The body of its thread.
    func run() {
        while !isEnding {
            let seen = core.reclaimerGate.generation
            core.reclaimerIsBusy.store(true, ordering: .sequentiallyConsistent)
            while !isEnding, reclaimOnce() {}
            core.reclaimerIsBusy.store(false, ordering: .sequentiallyConsistent)
            core.purges.advance()
            // Something may have become purgeable while the flag still said that we look.
            if read({ $0.device.shouldReclaim }) { continue }
            core.reclaimerGate.wait(while: seen)
        }
    }

    /// Purges towards desired; false when there is nothing (more) to do.
    func reclaimOnce() -> Bool {
        openFiles.settleMappings()
        let job = change { state -> PurgeJob? in
            guard state.device.shouldReclaim, let goal = state.device.goal(for: .pressure) else { return nil }
            return state.choose(goal, trigger: .pressure, pid: 0, limit: Self.batch)
        }
        guard let job else { return false }
        purger.purgeAndWait(job)
        return true
    }

    /// Returns when pressure asks for nothing that could be done. Where no thread reclaims
    /// (a store that is not mounted) nothing purges in the background.
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
