import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// A purge that has been decided: its bytes are free in the ledger, its files are still to go.
struct PurgeJob {
    struct Victim {
        var node: Node
        var directory: Node
        var name: Name
        var reason: PurgeReason
        var bytes: ByteCount
        var tier: Tier
    }
    /// See `UntoldPurges`.
    let number: UInt64
    var fromOthers: ByteCount
    var victims: [Victim]
    let trigger: PurgeTrigger
    let pid: pid_t
    /// Of one that is done for pressure.
    let cause: PressureCause?

    /// What is known of all that it purges.
    fileprivate func event(_ reason: PurgeReason, bytes: ByteCount, path: String? = nil, tier: Tier? = nil) -> Event {
        Event(
            type: .purge, path: path, tier: tier, bytes: bytes, reason: reason.rawValue, trigger: trigger,
            pid: pid == 0 ? cause?.pid : pid, cause: cause?.path)
    }
}

/// What became of a purge, or of a part of it.
struct PurgeResult {
    var freed: ByteCount
    /// What was told of it.
    var events: [Event] = []
    /// The store would not let go of a file, which has been put back into the ledger, and nothing could go instead.
    var hasFailed: Bool
}

/// Files that have been taken from among the victims.
struct Picked {
    var fromOthers: ByteCount
    var victims: [PurgeJob.Victim]

    var isEmpty: Bool { fromOthers == .zero && victims.isEmpty }
    var freed: ByteCount { victims.reduce(fromOthers) { $0 + $1.bytes } }
}

extension Volume {
    /// Decides a purge, or `limit` files of it: from here on its files are gone for who opens them, and
    /// their bytes go from reclaimable to free in this one step. The plan is PurgePlan's.
    func choose(
        _ goal: PurgeGoal, trigger: PurgeTrigger, pid: pid_t, limit: Int = .max, spared: ClosedRange<Instant>? = nil,
        _ state: inout VolumeState
    ) -> PurgeJob? {
        let picked = pick(goal, limit: limit, spared: spared, &state)
        return picked.isEmpty ? nil : state.begin(picked, trigger: trigger, pid: pid)
    }

    func pick(
        _ goal: PurgeGoal, limit: Int, spared: ClosedRange<Instant>? = nil, _ state: inout VolumeState
    ) -> Picked {
        let plan = PurgePlan<Node>(
            goal: goal, othersPurgeable: state.device.othersPurgeable, limit: limit,
            next: { state.tree.popVictim(step: $0, spared: spared) })
        state.device.takeFromOthers(plan.fromOthers)
        return Picked(
            fromOthers: plan.fromOthers, victims: plan.items.compactMap { victim($0.id, $0.reason, &state) })
    }

    /// A file that has been chosen leaves the ledger.
    func victim(_ node: Node, _ reason: PurgeReason, _ state: inout VolumeState) -> PurgeJob.Victim? {
        guard let directory = node.parent else { return nil }
        let victim = PurgeJob.Victim(
            node: node, directory: directory, name: node.name, reason: reason, bytes: node.charged,
            tier: node.standing.tier)
        state.tree.choose(node)
        return victim
    }

    /// Removes the files of a purge from the store and from the tree.
    func carryOut(_ job: PurgeJob, _ debt: inout AnnouncementDebt) -> PurgeResult {
        var result = PurgeResult(freed: .zero, hasFailed: false)
        carryOut(job, &debt) { part in
            result.freed += part.freed
            result.hasFailed = result.hasFailed || part.hasFailed
        }
        return result
    }

    /// The same; `report` gets what became of each batch.
    func carryOut(_ job: PurgeJob, _ debt: inout AnnouncementDebt, report: (PurgeResult) -> Void) {
        hooks.beforeSlowWork()
        if job.fromOthers > .zero {
            let events = record([job.event(.others, bytes: job.fromOthers)])
            report(PurgeResult(freed: job.fromOthers, events: events, hasFailed: false))
        }
        var victims = job.victims[...]
        while !victims.isEmpty {
            let (part, instead) = remove(victims.prefix(Self.purgeBatch), job, &debt)
            victims = victims.dropFirst(Self.purgeBatch)
            victims += instead
            report(part)
        }
        change { $0.noteTold(job) }
        change { state in
            state.noteEnd(of: job)
            state.device.notePurged(bytes: job.fromOthers)
        }
        core.purges.advance()
    }

    /// Answers also what is to go instead of files that the store would not let go of.
    private func remove(
        _ victims: ArraySlice<PurgeJob.Victim>, _ job: PurgeJob, _ debt: inout AnnouncementDebt
    ) -> (PurgeResult, instead: [PurgeJob.Victim]) {
        // Names go: see `reading`.
        core.moves.add(1, ordering: .acquiringAndReleasing)
        defer { core.movesEnded.add(1, ordering: .acquiringAndReleasing) }
        let (gone, failed) = unlink(victims)
        let freed = gone.reduce(.zero) { $0 + $1.victim.bytes }
        let (removals, sidecars, instead, isShort) = change { state -> ([Removal], [String], Picked, Bool) in
            let removals = gone.map { removal($0.victim, $0.path, &state) }
            let sidecars = gone.compactMap { detach($0.victim, &state) }
            let instead = reinstate(failed, job, &state)
            state.device.notePurged(files: Int64(gone.count), bytes: freed + instead.fromOthers)
            return (removals, sidecars, instead, !failed.isEmpty && state.capacity.balance < .zero)
        }
        core.purges.advance()
        for sidecar in sidecars { store.removeSidecar(sidecar) }
        var told = gone.map { victim, path in
            job.event(victim.reason, bytes: victim.bytes, path: path.text, tier: victim.tier)
        }
        if instead.fromOthers > .zero { told.append(job.event(.others, bytes: instead.fromOthers)) }
        let result = PurgeResult(freed: freed + instead.fromOthers, events: record(told), hasFailed: isShort)
        debt.add(removals)
        return (result, instead.victims)
    }

    /// Removes them from the store: which are gone, and of which it would not let go.
    private func unlink(
        _ victims: ArraySlice<PurgeJob.Victim>
    ) -> (gone: [(victim: PurgeJob.Victim, path: [Name])], failed: [PurgeJob.Victim]) {
        var gone: [(victim: PurgeJob.Victim, path: [Name])] = []
        var failed: [PurgeJob.Victim] = []
        // While the files are there, so are their directories.
        let paths = read { _ in victims.map { $0.node.path() } }
        for (victim, path) in zip(victims, paths) {
            if unlink(victim) { gone.append((victim, path)) } else { failed.append(victim) }
        }
        return (gone, failed)
    }

    /// The name that is gone; a ghost of it stays until the kernel has been told.
    private func removal(_ victim: PurgeJob.Victim, _ path: [Name], _ state: inout VolumeState) -> Removal {
        let removal = Removal(
            directory: victim.directory, node: victim.node, name: victim.name, path: path,
            concernsKernel: victim.directory === root || victim.directory.lookups > 0)
        if removal.concernsKernel {
            state.ghosts[.init(directory: ObjectIdentifier(removal.directory), name: removal.name)] = removal.node
        }
        return removal
    }

    private func unlink(_ victim: PurgeJob.Victim) -> Bool {
        do throws(Errno) {
            let directory = try directoryDescriptor(victim.directory)
            try asOwner(of: directory) { () throws(Errno) in
                try victim.name.withCName { (name) throws(Errno) in try System.unlink(at: directory.raw, name) }
            }
            return true
        } catch {
            return error == .noEntry
        }
    }

    private func detach(_ victim: PurgeJob.Victim, _ state: inout VolumeState) -> String? {
        state.tree.detach(victim.node, from: Dentry(directory: victim.directory, name: victim.name))
        return victim.node.dropStoredExtents()
    }

    /// The files count again, and are no victims in this mount any more. What a write has been
    /// promised must come from others then, chosen in the same step.
    private func reinstate(_ failed: [PurgeJob.Victim], _ job: PurgeJob, _ state: inout VolumeState) -> Picked {
        for victim in failed {
            state.tree.reinstate(victim.node, isStuck: true)
        }
        let bytes = failed.reduce(ByteCount.zero) { $0 + $1.bytes }
        let short = min(bytes, .zero - state.capacity.balance)
        guard job.trigger == .importantWrite, short > .zero else { return Picked(fromOthers: .zero, victims: []) }
        return pick(.bytes(short), limit: .max, &state)
    }

    private func record(_ new: [Event]) -> [Event] {
        events.append(new)
        return new
    }

    /// Tells the kernel, without waiting for it.
    func announce(_ removals: [Removal]) {
        guard !removals.isEmpty else { return }
        announce(removals, answer: nil)
    }

    /// The same; `then` runs once that is done, or earlier where the kernel is kept from being told:
    /// see `Announcements`.
    func announce(_ removals: [Removal], then: @escaping @Sendable () -> Void) {
        announce(removals) { [self] isLate in
            if isLate { core.lateAnnouncements.add(1, ordering: .relaxed) }
            then()
        }
    }

    private func announce(_ removals: [Removal], answer: (@Sendable (Bool) -> Void)?) {
        hooks.announce(
            Announcement(
                removals: removals, whereabouts: { [self] in whereabouts(of: $0) },
                told: { [self] in finishAnnouncement(removals) }, answer: answer))
    }

    private func whereabouts(of removal: Removal) -> PurgedName? {
        read { _ in
            let directory = removal.directory
            guard directory === root || directory.parent != nil else { return nil }
            return PurgedName(name: removal.name, path: directory.path() + [removal.name])
        }
    }

    private func finishAnnouncement(_ removals: [Removal]) {
        change { state in
            for removal in removals {
                let key = VolumeState.GhostKey(directory: ObjectIdentifier(removal.directory), name: removal.name)
                if state.ghosts[key] === removal.node { state.ghosts[key] = nil }
            }
        }
    }

    /// Purges in steps that hold the lock for milliseconds, until `goal` asks for no more or nothing is
    /// left. It is asked before each step, under the lock, and told what has come back so far. Files
    /// that are being changed are waited for. What is used while all of a place goes is spared, so that
    /// this ends however much is made meanwhile.
    func purge(
        trigger: PurgeTrigger, pid: pid_t, _ debt: inout AnnouncementDebt, report: ([Event]) -> Void = { _ in },
        _ goal: (borrowing VolumeState, ByteCount) -> PurgeGoal?
    ) -> ByteCount {
        let began = clock.now
        var lastPurge = System.uptime()
        var freed = ByteCount.zero
        while true {
            let seen = core.released.generation
            let now = clock.now
            let (job, isHeld) = change { state -> (PurgeJob?, Bool) in
                guard let goal = goal(state, freed) else { return (nil, false) }
                let job = choose(
                    goal, trigger: trigger, pid: pid, limit: Self.purgeBatch,
                    spared: goal.isWhole ? began...max(began, now) : nil, &state)
                return (job, job == nil && state.device.held > .zero)
            }
            if let job {
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

    /// Announcements come in order: after this one, all of them have.
    func awaitAnnouncements() {
        let announced = Gate()
        let before = announced.generation
        announce([]) { announced.advance() }
        announced.wait(while: before)
    }

    /// A purge that has been decided, from beginning to end: returns when every name is gone for everybody.
    func purgeAndWait(_ job: PurgeJob) {
        awaitingAnnouncements { debt in carryOut(job, &debt) { _ in } }
    }
}

// The kernel is told of a purged name by an unlink(2) of our own thread through the mount, which
// wakes watchers too (docs/ARCHITECTURE.md, Telling the kernel of a purge).
extension Volume {
    func isAnnouncer(_ caller: Caller) -> Bool { caller.pid != 0 && caller.pid == hooks.announcer() }

    /// For the announcing thread a purged name is still there.
    func ghost(_ name: Name, in parent: Node, caller: Caller) -> Entry? {
        guard isAnnouncer(caller) else { return nil }
        return change { state in
            guard let node = state.ghosts[.init(directory: ObjectIdentifier(parent), name: name)] else { return nil }
            lockedGrant(node, &state)
            var status = stat()
            status.st_ino = UInt(node.inode)
            status.st_mode = S_IFREG | 0o600
            status.st_nlink = 1
            return Entry(node: node, attributes: Attributes(status: status, mayBeCached: false))
        }
    }

    /// The announcing thread removes it; ENOENT once the app has made the name anew.
    func endGhost(_ name: Name, in parent: Node) throws(Errno) {
        let isGhost = read { state in
            state.ghosts[.init(directory: ObjectIdentifier(parent), name: name)] != nil
        }
        guard isGhost else { throw .noEntry }
    }
}
