import PurgeModel
import PurgeStore
import PurgeSystem

// The threads of a mounted volume that serve no request: one purges under pressure, one keeps the store.
extension Volume {
    public func startThreads() throws(Errno) {
        // Nothing can be purged in a store that is only looked at.
        if !store.isForReading {
            try threads.start("reclaimer") { [self] in reclaimer.run() }
            core.reclaimerRuns.store(true, ordering: .sequentiallyConsistent)
        }
        try keeper.start(threads) { [self] in
            settleMappings()
            removeLeftovers()
        }
        events.append([Event(type: .mount)])
        change { _ in }
    }

    /// Ends the threads and writes back what is not on disk yet. What cannot be written, and so is lost.
    @discardableResult
    public func end() -> StoreError? {
        core.isEnding.store(true, ordering: .sequentiallyConsistent)
        core.reclaimerGate.advance()
        core.purges.advance()
        keeper.wake.advance()
        threads.join()
        openFiles.endMappings()
        removeLeftovers()
        return keeper.end()
    }

    /// What calls that failed have left in the store, as soon as it can be removed.
    func removeLeftovers() {
        withdrawStrays()
        store.removeLeftSidecars()
    }
}
