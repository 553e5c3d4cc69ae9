import PurgeModel
import PurgeStore
import PurgeSystem

// The threads of a mounted volume that serve no request: one purges under pressure, one keeps
// the journal.
extension Volume {
    /// Victims of one background purge at most, so that nobody waits long for a name.
    private static let reclaimBatch = 256
    /// Last uses are at most this old after a crash (SPEC section 3).
    private static let secondsBetweenSaves = 20

    public func startThreads() throws(Errno) {
        let reclaiming = try WorkThread(name: "reclaimer") { [self] in reclaimForever() }
        let keeping = try WorkThread(name: "journal") { [self] in keepJournal() }
        threads.withLock { $0 = [reclaiming, keeping] }
        events.append([Event(type: .mount)])
        change { _ in }
    }

    /// Ends the threads and writes back what is not on disk yet.
    public func end() {
        isEnding.store(true, ordering: .sequentiallyConsistent)
        reclaimerGate.advance()
        journalGate.advance()
        purges.advance()
        for thread in threads.withLock({ $0 }) { thread.join() }
        events.append([Event(type: .unmount)])
        events.flush()
        events.endReaders()
        saveLastUses()
        saveSettings(durably: true)
        journal.close()
    }

    private func reclaimForever() {
        while !isEnding.load(ordering: .acquiring) {
            let seen = reclaimerGate.generation
            reclaimerIsBusy.store(true, ordering: .sequentiallyConsistent)
            while !isEnding.load(ordering: .acquiring), reclaimOnce() {}
            reclaimerIsBusy.store(false, ordering: .sequentiallyConsistent)
            purges.advance()
            // Something may have become purgeable while the flag still said that we look.
            if state.withLock({ $0.shouldReclaim }) { continue }
            reclaimerGate.wait(while: seen)
        }
    }

    /// Purges towards desired; false when there is nothing (more) to do.
    private func reclaimOnce() -> Bool {
        let job = change { state -> PurgeJob? in
            guard state.shouldReclaim else { return nil }
            let short = state.capacity.thresholds.desired - state.capacity.balance
            return choose(.bytes(short), trigger: .pressure, pid: 0, limit: Self.reclaimBatch, &state)
        }
        guard let job else { return false }
        _ = purgeAndWait(job)
        return true
    }

    /// Returns when pressure asks for nothing that could be done. Where no thread reclaims
    /// (a store that is not mounted) nothing purges in the background.
    func awaitReclaimer() {
        guard threads.withLock({ !$0.isEmpty }) else { return }
        while !isEnding.load(ordering: .acquiring) {
            let seen = purges.generation
            let isBusy = reclaimerIsBusy.load(ordering: .sequentiallyConsistent)
            if !isBusy && state.withLock({ !$0.shouldReclaim && $0.purgesUnderWay == 0 }) { return }
            reclaimerGate.advance()
            purges.wait(while: seen, milliseconds: 1000)
        }
    }

    private func keepJournal() {
        var seconds = 0
        while !isEnding.load(ordering: .acquiring) {
            let seen = journalGate.generation
            journalGate.wait(while: seen, milliseconds: 1000)
            events.flush()
            if state.withLock({ $0.settingsAreUnsaved }) { saveSettings() }
            // Freed here, outside the lock.
            _ = state.withLock { $0.dropGoneUses() }
            seconds += 1
            if seconds % Self.secondsBetweenSaves == 0 { saveLastUses() }
        }
    }

    func saveLastUses() {
        let (gone, nodes, uses) = state.withLock { state in
            let (gone, nodes) = state.takeUnsavedUses()
            return (gone, nodes, nodes.map { Journal.LastUse(inode: $0.inode, birth: 0, lastUse: $0.lastUse) })
        }
        do throws(StoreError) {
            // First those that are gone: their numbers may be in use again.
            if !gone.isEmpty { try journal.forgetLastUses(of: gone) }
            if !uses.isEmpty { try journal.saveLastUses(uses) }
        } catch {
            hooks.report(error)
            state.withLock { state in
                for node in nodes where !node.flags.contains(.useUnsaved) {
                    node.flags.insert(.useUnsaved)
                    state.unsavedUses.append(node)
                }
            }
        }
    }

    func saveSettings(durably: Bool = false) { savingSettings.withLock { _ in writeSettings(durably: durably) } }

    private func writeSettings(durably: Bool) {
        let now = state.withLock { state in
            state.settingsAreUnsaved = false
            var settings = settings
            settings.total = state.capacity.total
            settings.others = state.capacity.others
            settings.othersPurgeable = state.capacity.othersPurgeable
            settings.thresholds = state.thresholdSettings
            settings.counters = state.counters
            return settings
        }
        do throws(StoreError) { try store.saveSettings(now, durably: durably) } catch { hooks.report(error) }
    }
}
