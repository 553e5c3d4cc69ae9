import PurgeModel
import PurgeStore
import PurgeSystem

// The threads of a mounted volume that do not serve requests. One purges in the background and for the policies of directories,
// and one checks the age of files in tmp. One carries out everything else that is due on the device, and one keeps the store up
// to date.
extension Volume {
    public func startThreads() throws(Errno) {
        keeper.noteCut()
        // Comes before the events of these threads, which may purge at once.
        events.append([Event(type: .mount)])
        // Nothing can be purged in a store that is only read.
        if !store.isForReading {
            try threads.start("reclaimer") { [self] in reclaimer.run() }
            core.reclaimerRuns.store(true, ordering: .sequentiallyConsistent)
            try threads.start("ageing") { [self] in deviceTimer.runAgeing() }
        }
        try threads.start("device") { [self] in deviceTimer.run() }
        core.deviceTimerRuns.store(true, ordering: .sequentiallyConsistent)
        try keeper.start(threads) { [self] in
            settleMappings()
            removeLeftovers()
        }
        // Saves at once, so that even a mount that is killed right away leaves a record.
        keeper.wake.advance()
        change { _ in }
    }

    /// Returns the damage found in the journal, once, for the code that mounts. The journal also records it.
    public var unreportedDamage: [StoreError] { keeper.takeDamage().map(\.message) }

    /// Ends the threads and writes pending state to disk, unless the store is to be discarded. Returns an error if data is
    /// lost because it cannot be written or because the store was removed.
    @discardableResult
    public func end(keepingStore: Bool = true) -> StoreError? {
        core.isEnding.store(true, ordering: .sequentiallyConsistent)
        core.reclaimerGate.advance()
        core.purges.advance()
        core.deviceGate.advance()
        core.deviceSettled.advance()
        keeper.wake.advance()
        threads.join()
        core.faults.end()
        openFiles.endMappings()
        removeLeftovers()
        return keeper.end(keepingStore: keepingStore)
    }

    /// Tries to remove the names and sidecars that failed calls left in the store.
    func removeLeftovers() {
        names.withdrawStrays()
        store.removeLeftSidecars()
    }
}
