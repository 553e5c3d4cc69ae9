import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// A purge that has been decided: its bytes are free in the ledger, but its files are still to be removed.
struct PurgeJob {
    struct Victim {
        var node: Node
        var directory: Node
        var name: Name
        var reason: PurgeReason
        var bytes: ByteCount
        var tier: Tier
        var lastUse: Instant
        /// It is emptied, and keeps its name.
        var leavesTombstone: Bool
    }
    /// See `UntoldPurges`.
    let number: UInt64
    var picked: Picked
    let trigger: PurgeTrigger
    /// The thread on whose behalf it is done; 0 if there is none.
    let tid: pid_t
    /// The write that set it off, if one did.
    let cause: PressureCause?
    /// The level when it was decided.
    let pressure: PressureLevel

    /// What is known about everything that it purges.
    fileprivate func event(_ reason: PurgeReason, bytes: ByteCount) -> Event {
        Event(
            type: .purge, bytes: bytes, reason: reason.rawValue, trigger: trigger, pid: tid == 0 ? cause?.pid : tid,
            cause: cause?.path, pressure: pressure)
    }

    fileprivate func event(_ purged: PurgedFile) -> Event {
        var event = event(purged.victim.reason, bytes: purged.victim.bytes)
        (event.path, event.tier) = (purged.path.text, purged.victim.tier)
        event.lastUse = purged.victim.lastUse.iso8601
        if purged.isEmptied { event.tombstone = true }
        return event
    }
}

/// A file that a purge has removed from the store, or emptied there.
struct PurgedFile {
    var victim: PurgeJob.Victim
    /// Where it was.
    var path: [Name]
    /// It keeps its name.
    var isEmptied: Bool
}

/// The outcome of a purge, or of a part of it.
struct PurgeResult {
    var freed: ByteCount
    /// What was reported about it.
    var events: [Event] = []
    /// A file could not be removed from the store and has been put back into the ledger, and no other could be purged
    /// instead.
    var hasFailed: Bool
}

/// Files that have been removed from the victims, and what others give.
struct Picked {
    var fromOthers = ByteCount.zero
    var victims: [PurgeJob.Victim] = []
    /// What others give after all files.
    var restOfOthers = ByteCount.zero
    /// See `OthersShare`.
    var leftToFiles = ByteCount.zero
    /// See `PurgePlan`.
    var leavesCaches = false
    /// Groups that may not have been chosen completely.
    var unfinished: [BegunGroup] = []
    /// What stays though its turn was not later; told with the first event.
    var passedOver: [PassedOver] = []

    var allFromOthers: ByteCount { fromOthers + restOfOthers }
    var isEmpty: Bool { allFromOthers == .zero && victims.isEmpty }
    var freed: ByteCount { victims.reduce(allFromOthers) { $0 + $1.bytes } }

    /// A further step of the same purge.
    mutating func add(_ next: Picked) {
        fromOthers += next.fromOthers
        victims += next.victims
        restOfOthers += next.restOfOthers
        leftToFiles = next.leftToFiles
        unfinished += next.unfinished
        if passedOver.isEmpty { passedOver = next.passedOver }
    }
}

/// A directory that is purged as one, of which a purge has taken a part.
struct BegunGroup {
    let directory: Node
    /// Of what goes with it.
    let ranks: [PurgeRank]

    init(_ group: UnfinishedGroup<Node>, _ order: PurgeOrder) {
        directory = group.directory
        ranks = order.turn(of: group.rank).map { order.groups[$0] } ?? []
    }
}

/// Carries out purges that have been decided.
struct Purger: VolumeFamily {
    let core: VolumeCore

    /// Removes the files of a purge from the store and from the tree.
    func carryOut(_ job: PurgeJob, _ debt: inout AnnouncementDebt) -> PurgeResult {
        var result = PurgeResult(freed: .zero, hasFailed: false)
        carryOut(job, &debt) { part in
            result.freed += part.freed
            result.hasFailed = result.hasFailed || part.hasFailed
        }
        return result
    }

    /// The same; `report` gets the outcome of each batch.
    func carryOut(_ job: PurgeJob, _ debt: inout AnnouncementDebt, report: (PurgeResult) -> Void) {
        let began = clock.now
        var job = job
        port.expectSlowWork()
        tell(&job, fromOthers: job.picked.fromOthers, report)
        var victims = job.picked.victims[...]
        repeat {
            while !victims.isEmpty {
                let (part, instead) = remove(victims.prefix(Self.batch), &job, &debt)
                victims = victims.dropFirst(Self.batch)
                victims += instead
                report(part)
            }
            // A group goes as one, even if less would have been enough.
            if !job.picked.unfinished.isEmpty {
                let now = clock.now
                victims += change { rest(of: job, since: began, until: now, &$0) }
            }
        } while !victims.isEmpty
        tell(&job, fromOthers: job.picked.restOfOthers, report)
        change { $0.noteTold(job) }
        change { state in
            state.noteEnd(of: job)
            state.tree.accounts.notePurged(bytes: job.picked.allFromOthers)
        }
    }

    private func tell(_ job: inout PurgeJob, fromOthers bytes: ByteCount, _ report: (PurgeResult) -> Void) {
        guard bytes > .zero else { return }
        let events = record([job.event(.others, bytes: bytes)], of: &job)
        report(PurgeResult(freed: bytes, events: events, hasFailed: false))
    }

    /// Also returns what is to be purged instead of files that could not be removed from the store.
    private func remove(
        _ victims: ArraySlice<PurgeJob.Victim>, _ job: inout PurgeJob, _ debt: inout AnnouncementDebt
    ) -> (PurgeResult, instead: [PurgeJob.Victim]) {
        // Names are being removed: see `reading`.
        core.moves.add(1, ordering: .acquiringAndReleasing)
        defer { core.movesEnded.add(1, ordering: .acquiringAndReleasing) }
        let (gone, failed) = carryOut(victims)
        let freed = gone.reduce(.zero) { $0 + $1.victim.bytes }
        let current = job
        let (removals, sidecars, instead, isShort) = change { state -> ([Removal], [String], Picked, Bool) in
            let removals = gone.map { removal(of: $0, &state) }
            let sidecars = gone.compactMap { finish($0, &state) }
            if gone.contains(where: \.isEmptied) { core.filesEmptied.add(1, ordering: .relaxed) }
            let instead = reinstate(failed, current, &state)
            state.tree.accounts.notePurged(files: Int64(gone.count), bytes: freed + instead.allFromOthers)
            return (removals, sidecars, instead, !failed.isEmpty && state.capacity.balance < .zero)
        }
        for sidecar in sidecars { store.removeSidecar(sidecar) }
        var told = gone.map { job.event($0) }
        if instead.allFromOthers > .zero { told.append(job.event(.others, bytes: instead.allFromOthers)) }
        let result = PurgeResult(
            freed: freed + instead.allFromOthers, events: record(told, of: &job), hasFailed: isShort)
        debt.add(removals)
        return (result, instead.victims)
    }

    /// The files count again, and are no longer victims in this mount. What a write has been promised must then come
    /// from others, chosen in the same step.
    private func reinstate(_ failed: [PurgeJob.Victim], _ job: PurgeJob, _ state: inout VolumeState) -> Picked {
        for victim in failed { state.tree.reinstate(victim.node, isStuck: true) }
        let bytes = failed.reduce(ByteCount.zero) { $0 + $1.bytes }
        let short = min(bytes, .zero - state.capacity.balance)
        guard job.trigger == .importantWrite, short > .zero else { return Picked() }
        return state.pick(.bytes(short), .documented, limit: .max)
    }

    private func record(_ new: [Event], of job: inout PurgeJob) -> [Event] {
        guard !new.isEmpty else { return [] }
        var new = new
        if !job.picked.passedOver.isEmpty {
            new[0].passedOver = job.picked.passedOver
            job.picked.passedOver = []
        }
        events.append(new)
        return new
    }

    /// Purges in steps that hold the lock for milliseconds, until `goal` asks for no more or nothing is left. `goal` is
    /// called before each step, under the lock, with what has been freed so far. Files that are being changed are
    /// waited for. While everything in a place is purged, files that are used meanwhile are spared, so that this ends
    /// however many are made.
    func purge(
        trigger: PurgeTrigger, tid: pid_t, _ debt: inout AnnouncementDebt, report: ([Event]) -> Void = { _ in },
        _ goal: (borrowing VolumeState, ByteCount) -> PurgeGoal?
    ) -> ByteCount {
        // Once: what is over a policy when it begins goes as such, whatever it takes itself, so that a plan can tell.
        policies.settle()
        var (freed, leftToFiles, clearsCaches) = (ByteCount.zero, ByteCount.zero, false)
        let began = clock.now
        var lastPurge = System.uptime()
        while true {
            let seen = core.released.generation
            let spared = began...max(began, clock.now)
            let (job, isHeld) = change { state -> (PurgeJob?, Bool) in
                func choose(_ goal: PurgeGoal, _ state: inout VolumeState) -> PurgeJob? {
                    state.choose(
                        goal, trigger: trigger, tid: tid, limit: Self.batch, spared: goal.isWhole ? spared : nil,
                        leftToFiles: leftToFiles)
                }
                if clearsCaches, !state.device.isRunning, let rest = choose(.step(.caches), &state) {
                    return (rest, false)
                }
                clearsCaches = false
                guard let goal = goal(state, freed) else { return (nil, false) }
                let job = choose(goal, &state)
                return (job, job == nil && state.device.held > .zero)
            }
            if let job {
                (leftToFiles, clearsCaches) = (job.picked.leftToFiles, clearsCaches || job.picked.leavesCaches)
                carryOut(job, &debt) { part in
                    freed += part.freed
                    report(part.events)
                }
                lastPurge = System.uptime()
            } else if !isHeld || System.uptime() - lastPurge > Self.patienceForHeldFiles
                || !core.released.wait(while: seen, milliseconds: 1000)
            {
                return freed
            }
        }
    }

    static let patienceForHeldFiles: Int64 = 10_000_000_000

    /// Carries out a purge that has been decided, from beginning to end: returns when every name is gone for every
    /// process.
    func purgeAndWait(_ job: PurgeJob) {
        purgedNames.awaitingAnnouncements { debt in carryOut(job, &debt) { _ in } }
    }
}
