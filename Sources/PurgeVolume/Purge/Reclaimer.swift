import PurgeModel
import PurgeSystem
import PurgeTree

/// The files that the reclaimer's thread is purging.
struct ReclaimedBatch {
    private(set) var number: UInt64 = 0
    /// Zero when the files are gone and announced.
    var bytes = ByteCount.zero {
        didSet { if bytes > .zero { number += 1 } }
    }
}

/// Purges in the background as long as pressure, a refused write or the policy of a directory requires it.
struct Reclaimer: VolumeFamily {
    let core: VolumeCore

    /// The body of the reclaimer's thread.
    func run() {
        while let seen = core.reclaimerGate.generation(unless: { isEnding }) {
            core.reclaimerIsBusy.store(true, ordering: .sequentiallyConsistent)
            while !isEnding, purgeOnce() {}
            core.reclaimerIsBusy.store(false, ordering: .sequentiallyConsistent)
            core.purges.advance()
            // Files may have become purgeable while the flag was still set, so that nothing woke this thread.
            if hasWork { continue }
            if let left = read({ $0.reclaimCall.millisecondsLeft($0.device) }) {
                core.reclaimerGate.wait(while: seen, milliseconds: left)
            } else {
                core.reclaimerGate.wait(while: seen)
            }
        }
    }

    /// Purges once by policy and once under pressure, so that a policy whose limit is reached again and again does not delay
    /// pressure. Returns false if there is nothing to do.
    private func purgeOnce() -> Bool {
        let byPolicy = policies.enforceOnce()
        if byPolicy { noteRound() }
        let byPressure = reclaimOnce()
        if byPressure { noteRound() }
        return byPolicy || byPressure
    }

    /// Notes that the chosen files are gone and announced.
    private func noteRound() {
        core.reclaimerRounds.add(1, ordering: .sequentiallyConsistent)
        core.purges.advance()
    }

    /// Purges one batch towards the goal of the background purge. Returns false if there is nothing to do now.
    func reclaimOnce() -> Bool {
        openFiles.settleMappings()
        guard read({ $0.reclaimCall.mayBegin($0.device) }) else { return false }
        policies.settle()
        var folder: WholeFolder?
        let purge = change { state -> Purge? in
            guard state.reclaimCall.mayBegin(state.device) else { return nil }
            return choose(&state, &folder)
        }
        if let purge {
            purger.purgeAndWait(purge)
            change { $0.reclaimedBatch.bytes = .zero }
            return true
        }
        guard let folder else { return false }
        let freed = purgedNames.awaitingAnnouncements { debt in
            WholeFolderPurge(core: core, folder: folder, trigger: .pressure, isNamed: false, tid: 0).run(&debt)
        }
        change { $0.reclaimCall.leftToFiles = max(.zero, $0.reclaimCall.leftToFiles - freed) }
        return true
    }

    /// Chooses the next files or, if `folder` is set afterwards, that folder. Returns nil if there is nothing to take now.
    private func choose(_ state: inout VolumeState, _ folder: inout WholeFolder?) -> Purge? {
        state.tree.accounts.beginReclaiming()
        guard state.device.shouldReclaim, let goal = state.device.goal(for: .pressure) else { return nil }
        let purge = state.choose(
            goal, trigger: .pressure, tid: 0, limit: Purger.batch, leftToFiles: state.reclaimCall.leftToFiles)
        if let purge {
            state.reclaimCall.leftToFiles = purge.plan.leftToFiles
            state.reclaimedBatch.bytes = purge.plan.bytes
            return purge
        }
        folder = state.tree.nextFolder(in: state.device.order(for: goal, .pressure))
        if folder == nil { state.tree.accounts.giveUpReclaiming() }
        return nil
    }

    /// Waits until a batch is gone and announced, but at most 0.1 s, and at most 20 ms while the notifier waits for a lock of
    /// the kernel, which the calling thread's request may hold. At most a third of the workers wait, so that the others serve
    /// the notifier.
    func awaitBatch(_ number: UInt64) {
        let followers = core.reclaimerFollowers.add(1, ordering: .relaxed).newValue
        defer { core.reclaimerFollowers.subtract(1, ordering: .relaxed) }
        guard followers <= max(1, budget.workers / 3) else { return }
        port.expectSlowWork()
        let end = System.uptime() + 100_000_000
        var blocked = 0
        while let seen = core.purges.generation(unless: { isEnding }),
            read({ $0.reclaimedBatch.number == number && $0.reclaimedBatch.bytes > .zero }), System.uptime() < end
        {
            core.purges.wait(while: seen, milliseconds: 10)
            blocked = System.isBlocked(thread: port.announcer) ? blocked + 1 : 0
            if blocked > 1 { return }
        }
    }

    /// Returns when the pressure requires no more purging now; a purge whose latency has not elapsed does not count. Returns at
    /// once if there is no reclaimer's thread, as in a store that is not mounted, because nothing is then purged in the
    /// background.
    func awaitPressure() { awaitEnd { !$0.reclaimCall.mayBegin($0.device) } }

    /// Returns once each policy has had nothing to take at some moment since it was last checked, and the files taken so far
    /// are gone. If programs keep writing, there may be no single moment at which no policy has anything to take.
    func awaitPolicies() { awaitEnd { !$0.tree.policies.isAwaited } }

    /// Waits until nothing more has to be chosen, and then until the files chosen so far are purged and announced.
    private func awaitEnd(_ isChosen: (borrowing VolumeState) -> Bool) {
        guard core.reclaimerRuns.load(ordering: .sequentiallyConsistent) else { return }
        while let seen = core.purges.generation(unless: { isEnding }) {
            if let last = read({ isChosen($0) ? $0.untoldPurges.last : nil }) {
                awaitPurges(upTo: last)
                // Files that could not be removed may have to be replaced by others.
                if read(isChosen) { return }
            }
            core.reclaimerGate.advance()
            core.purges.wait(while: seen, milliseconds: 1000)
        }
    }

    /// Returns when the purges up to `last` are over and the reclaimer's thread has announced the names that it has purged.
    private func awaitPurges(upTo last: UInt64) {
        let rounds = core.reclaimerRounds.load(ordering: .sequentiallyConsistent)
        while let seen = core.purges.generation(unless: { isEnding }) {
            let isPast =
                !core.reclaimerIsBusy.load(ordering: .sequentiallyConsistent)
                || core.reclaimerRounds.load(ordering: .sequentiallyConsistent) != rounds
            if isPast, read({ !$0.untoldPurges.isUnderWay(upTo: last) }) { return }
            core.reclaimerGate.advance()
            core.purges.wait(while: seen, milliseconds: 1000)
        }
    }

    /// Whether there is something to purge in the background now.
    private var hasWork: Bool { read { $0.reclaimCall.mayBegin($0.device) || $0.tree.policies.isPending } }

    private var isEnding: Bool { core.isEnding.load(ordering: .acquiring) }
}
