import PurgeModel
import PurgeStore
import PurgeSystem

// The threads of a mounted volume that do not serve requests: one purges under pressure, one looks at what is in
// tmp for its age, one carries out what else is due on the device, one keeps the store up to date.
extension Volume {
    public func startThreads() throws(Errno) {
        // Nothing can be purged in a store that is only read.
        if !store.isForReading {
            try threads.start("reclaimer") { [self] in reclaimer.run() }
            core.reclaimerRuns.store(true, ordering: .sequentiallyConsistent)
            try threads.start("ageing") { [self] in deviceTimer.runAgeing() }
        }
        try threads.start("device") { [self] in deviceTimer.run() }
        core.deviceTimerRuns.store(true, ordering: .sequentiallyConsistent)
        keeper.noteCut()
        try keeper.start(threads) { [self] in
            settleMappings()
            removeLeftovers()
        }
        events.append([Event(type: .mount)])
        // So that a mount which is killed at once is known to have been one.
        keeper.wake.advance()
        change { _ in }
    }

    /// For whoever mounts, once: what the journal has lost. It tells so itself.
    public var unreportedDamage: [StoreError] { keeper.takeDamage() }

    /// Ends the threads and writes what is not on disk yet, unless the store is of no use any more. Returns what cannot be
    /// written and is lost.
    @discardableResult
    public func end(keepingStore: Bool = true) -> StoreError? {
        core.isEnding.store(true, ordering: .sequentiallyConsistent)
        core.reclaimerGate.advance()
        core.purges.advance()
        core.deviceGate.advance()
        core.deviceSettled.advance()
        keeper.wake.advance()
        threads.join()
        openFiles.endMappings()
        removeLeftovers()
        return keeper.end(keepingStore: keepingStore)
    }

    /// Removes what failed calls have left in the store, as soon as that is possible.
    func removeLeftovers() {
        names.withdrawStrays()
        store.removeLeftSidecars()
    }
}
