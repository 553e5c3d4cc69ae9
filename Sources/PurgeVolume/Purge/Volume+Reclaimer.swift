import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

// The threads of a mounted volume that serve no request: one purges under pressure, one keeps
// the journal.
extension Volume {
    /// Victims of one background purge at most, so that nobody waits long for a name.
    private static let reclaimBatch = 256
    /// Nanoseconds; last uses are at most 30 s old after a crash.
    private static let timeBetweenSaves: Int64 = 20_000_000_000

    public func startThreads() throws(Errno) {
        // Nothing can be purged in a store that is only looked at.
        let reclaiming = try store.isForReading ? nil : WorkThread(name: "reclaimer") { [self] in reclaimForever() }
        let keeping = try WorkThread(name: "journal") { [self] in keepJournal() }
        threads.withLock { $0 = [reclaiming, keeping].compactMap { $0 } }
        events.append([Event(type: .mount)])
        change { _ in }
    }

    /// Ends the threads and writes back what is not on disk yet. What cannot be written, and so is lost.
    @discardableResult
    public func end() -> StoreError? {
        isEnding.store(true, ordering: .sequentiallyConsistent)
        core.reclaimerGate.advance()
        journalGate.advance()
        core.purges.advance()
        for thread in threads.withLock({ $0 }) { thread.join() }
        endMappings()
        events.append([Event(type: .unmount)])
        flushEvents()
        events.endReaders()
        events.endRecorder()
        let usesAreSaved = saveLastUses()
        let settingsAreSaved = saveSettings(durably: true) || settingsAreAsSaved
        journal.close()
        return loss(usesAreSaved: usesAreSaved, settingsAreSaved: settingsAreSaved)
    }

    /// But for the counters.
    private var settingsAreAsSaved: Bool {
        device.isSame(butForCounters: savedDevice.withLock { $0 })
    }

    private func loss(usesAreSaved: Bool, settingsAreSaved: Bool) -> StoreError? {
        if store.isForReading { return nil }
        let missing = events.missing
        var lost =
            missing == 0 ? [] : ["\(missing) \(missing == 1 ? "event is" : "events are") missing from the journal"]
        if !usesAreSaved { lost.append("the order of last use is not up to date") }
        if !settingsAreSaved { lost.append("the settings of this mount are not saved") }
        guard !lost.isEmpty else { return nil }
        return StoreError(
            "the store is incomplete: \(lost.joined(separator: ", "))", path: store.path,
            advice: "It could not be written at the end. If the disk under it is full, make room there.")
    }

    private func reclaimForever() {
        while !isEnding.load(ordering: .acquiring) {
            let seen = core.reclaimerGate.generation
            core.reclaimerIsBusy.store(true, ordering: .sequentiallyConsistent)
            while !isEnding.load(ordering: .acquiring), reclaimOnce() {}
            core.reclaimerIsBusy.store(false, ordering: .sequentiallyConsistent)
            core.purges.advance()
            // Something may have become purgeable while the flag still said that we look.
            if read({ $0.shouldReclaim }) { continue }
            core.reclaimerGate.wait(while: seen)
        }
    }

    /// Purges towards desired; false when there is nothing (more) to do.
    private func reclaimOnce() -> Bool {
        settleMappings()
        let job = change { state -> PurgeJob? in
            guard state.shouldReclaim, let goal = state.device.goal(for: .pressure) else { return nil }
            return choose(goal, trigger: .pressure, pid: 0, limit: Self.reclaimBatch, &state)
        }
        guard let job else { return false }
        purgeAndWait(job)
        return true
    }

    /// Returns when pressure asks for nothing that could be done. Where no thread reclaims
    /// (a store that is not mounted) nothing purges in the background.
    func awaitReclaimer() {
        guard !store.isForReading, threads.withLock({ !$0.isEmpty }) else { return }
        while !isEnding.load(ordering: .acquiring) {
            let seen = core.purges.generation
            let isBusy = core.reclaimerIsBusy.load(ordering: .sequentiallyConsistent)
            if !isBusy && read({ !$0.shouldReclaim && $0.purgesUnderWay == 0 }) { return }
            core.reclaimerGate.advance()
            core.purges.wait(while: seen, milliseconds: 1000)
        }
    }

    private func keepJournal() {
        var saved = System.uptime()
        while !isEnding.load(ordering: .acquiring) {
            let seen = journalGate.generation
            flushEvents()
            if device.revision != savedDevice.withLock({ $0.revision }) { saveSettings() }
            // What is free or purgeable once it is unmapped: who waits for room gets it soon.
            settleMappings()
            // Freed here, outside the lock.
            _ = change { $0.dropGoneUses() }
            if System.uptime() - saved > Self.timeBetweenSaves {
                saved = System.uptime()
                saveLastUses()
            }
            journalGate.wait(while: seen, milliseconds: 1000)
        }
    }

    private func flushEvents() {
        events.flush()
        if let failure = events.failure {
            reportJournal(failure)
        } else {
            journalIsFailing.store(false, ordering: .relaxed)
        }
    }

    /// Once, until it can be written again.
    private func reportJournal(_ error: StoreError) {
        if !journalIsFailing.exchange(true, ordering: .relaxed) { hooks.report(error) }
    }

    /// For commands: what has happened is in the journal when they return, if that takes no longer than half a
    /// second.
    func awaitJournal() {
        if threads.withLock({ $0.isEmpty }) { return events.flush() }
        events.awaitFlush(milliseconds: 500)
    }

    /// Whether they are saved; if not, they are kept for the next time.
    @discardableResult
    func saveLastUses() -> Bool {
        if store.isForReading { return true }
        let (gone, nodes, uses) = change { state in
            let (gone, nodes) = state.takeUnsavedUses()
            let uses = nodes.map { Journal.LastUse(inode: $0.inode, birth: Int64($0.birthMark), lastUse: $0.lastUse) }
            return (gone, nodes, uses)
        }
        do throws(StoreError) {
            // First those that are gone: their numbers may be in use again.
            if !gone.isEmpty { try journal.forgetLastUses(of: gone) }
            if !uses.isEmpty { try journal.saveLastUses(uses) }
            return true
        } catch {
            reportJournal(error)
            change { state in
                state.restoreGone(gone)
                for node in nodes where !node.flags.contains(.useUnsaved) {
                    node.flags.insert(.useUnsaved)
                    state.unsavedUses.append(node)
                }
            }
            return false
        }
    }

    /// Whether they are saved; if not, it is tried again every second.
    @discardableResult
    func saveSettings(durably: Bool = false) -> Bool {
        savingSettings.withLock { _ in writeSettings(durably: durably) }
    }

    private func writeSettings(durably: Bool) -> Bool {
        if store.isForReading { return true }
        let now = device
        do throws(StoreError) {
            try store.saveSettings(now, durably: durably)
            savedDevice.withLock { $0 = now }
            settingsAreFailing.store(false, ordering: .relaxed)
            return true
        } catch {
            if !settingsAreFailing.exchange(true, ordering: .relaxed) { hooks.report(error) }
            return false
        }
    }
}
