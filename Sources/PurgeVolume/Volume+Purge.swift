import Glibc
import PurgeModel
import PurgeSystem

/// A purge that has been decided: its bytes are free in the ledger, its files are still to go.
struct PurgeJob {
    struct Victim {
        var node: Node
        var directory: Node
        var name: Name
        var path: [Name]
        var reason: PurgeReason
        var bytes: ByteCount
        var tier: Tier
    }
    var fromOthers: ByteCount
    var victims: [Victim]
    var trigger: PurgeTrigger
    var pid: pid_t
}

/// What became of a purge.
struct PurgeResult {
    var removals: [Removal]
    var freed: ByteCount
    /// The store would not let go of a file, which has been put back into the ledger.
    var hasFailed: Bool
}

extension Volume {
    /// Decides a purge: from here on its files are gone for who opens them, and their bytes go
    /// from reclaimable to free in this one step. The plan is PurgePlan's.
    func choose(
        _ goal: PurgeGoal, trigger: PurgeTrigger, pid: pid_t, limit: Int = .max, _ state: inout VolumeState
    ) -> PurgeJob? {
        let plan = PurgePlan<Node>(
            goal: goal, othersPurgeable: state.capacity.othersPurgeable, limit: limit,
            next: { state.queue.popFirst(step: $0) })
        guard plan.fromOthers > .zero || !plan.items.isEmpty else { return nil }
        takeFromOthers(plan.fromOthers, &state)
        let victims = plan.items.compactMap { victim($0.id, $0.reason, &state) }
        state.purgesUnderWay += 1
        return PurgeJob(fromOthers: plan.fromOthers, victims: victims, trigger: trigger, pid: pid)
    }

    private func takeFromOthers(_ bytes: ByteCount, _ state: inout VolumeState) {
        guard bytes > .zero else { return }
        state.capacity.othersPurgeable -= bytes
        state.capacity.others -= bytes
        state.settingsAreUnsaved = true
    }

    /// A file that the queue has handed out leaves the ledger.
    private func victim(_ node: Node, _ reason: PurgeReason, _ state: inout VolumeState) -> PurgeJob.Victim? {
        state.capacity.reclaimableFiles -= node.charged
        guard let directory = node.parent else { return nil }
        let victim = PurgeJob.Victim(
            node: node, directory: directory, name: node.name, path: node.path(), reason: reason,
            bytes: node.charged, tier: node.standing.tier)
        node.flags.insert(.purging)
        state.withdraw(node)
        return victim
    }

    /// What `choose` would decide, without deciding it.
    func plan(_ goal: PurgeGoal, _ state: inout VolumeState) -> PurgePlan<Node> {
        let plan = PurgePlan<Node>(
            goal: goal, othersPurgeable: state.capacity.othersPurgeable, next: { state.queue.popFirst(step: $0) })
        for item in plan.items {
            guard let rank = item.id.standing.rank else { continue }
            state.queue.insert(item.id, rank: rank)
        }
        return plan
    }

    /// Removes the files of a purge from the store and from the tree. The names that the kernel
    /// must be told of are the caller's to announce, before it answers.
    func carryOut(_ job: PurgeJob) -> PurgeResult {
        hooks.beforeSlowWork()
        // Names go: see `reading`.
        moves.add(1, ordering: .acquiringAndReleasing)
        defer { movesEnded.add(1, ordering: .acquiringAndReleasing) }
        var failed: [PurgeJob.Victim] = []
        var gone: [PurgeJob.Victim] = []
        for victim in job.victims {
            if remove(victim) { gone.append(victim) } else { failed.append(victim) }
        }
        var sidecars: [String] = []
        change { state in
            for victim in gone {
                state.ghosts[.init(directory: ObjectIdentifier(victim.directory), name: victim.name)] = victim.node
                if let sidecar = detach(victim, &state) { sidecars.append(sidecar) }
            }
            for victim in failed { reinstate(victim.node, &state) }
            state.purgesUnderWay -= 1
            state.counters.purgedFiles += Int64(gone.count)
            state.counters.purgedBytes += gone.reduce(job.fromOthers) { $0 + $1.bytes }.bytes
            state.settingsAreUnsaved = true
        }
        purges.advance()
        for sidecar in sidecars { store.removeSidecar(sidecar) }
        record(job, gone)
        return PurgeResult(
            removals: gone.map { Removal(directory: $0.directory, node: $0.node, name: $0.name, path: $0.path) },
            freed: gone.reduce(job.fromOthers) { $0 + $1.bytes }, hasFailed: !failed.isEmpty)
    }

    private func remove(_ victim: PurgeJob.Victim) -> Bool {
        do throws(Errno) {
            let directory = try directoryDescriptor(victim.directory)
            try victim.name.withCName { (name) throws(Errno) in try System.unlink(at: directory.raw, name) }
            return true
        } catch {
            return error == .noEntry
        }
    }

    private func detach(_ victim: PurgeJob.Victim, _ state: inout VolumeState) -> String? {
        let node = victim.node
        if victim.directory.part?.entries[victim.name] === node {
            victim.directory.part?.entries[victim.name] = nil
        }
        node.parent = nil
        node.flags.insert(.unlinked)
        node.flags.remove(.purging)
        node.blocks = 0
        state.noteGone(node)
        defer { node.part?.extents = nil }
        return node.part?.extents?.record.sidecar
    }

    private func reinstate(_ node: Node, _ state: inout VolumeState) {
        node.flags.remove(.purging)
        node.flags.insert(.stuck)
        state.enter(node)
    }

    private func record(_ job: PurgeJob, _ gone: [PurgeJob.Victim]) {
        var list: [Event] = []
        if job.fromOthers > .zero {
            list.append(
                Event(
                    type: .purge, bytes: job.fromOthers, reason: PurgeReason.others.rawValue, trigger: job.trigger,
                    pid: job.pid == 0 ? nil : job.pid))
        }
        for victim in gone {
            list.append(
                Event(
                    type: .purge, path: victim.path.text, tier: victim.tier, bytes: victim.bytes,
                    reason: victim.reason.rawValue, trigger: job.trigger, pid: job.pid == 0 ? nil : job.pid))
        }
        events.append(list)
    }

    /// Tells the kernel and writes the journal, without waiting for either.
    func announce(_ removals: [Removal]) {
        guard !removals.isEmpty else { return }
        hooks.announce(removals) { [self] in finishAnnouncement(removals) }
    }

    /// The same; `then` runs once both are done.
    public func announce(_ removals: [Removal], then: @escaping @Sendable () -> Void) {
        hooks.announce(removals) { [self] in
            finishAnnouncement(removals)
            then()
        }
    }

    private func finishAnnouncement(_ removals: [Removal]) {
        state.withLock { state in
            for removal in removals {
                let key = VolumeState.GhostKey(directory: ObjectIdentifier(removal.directory), name: removal.name)
                if state.ghosts[key] === removal.node { state.ghosts[key] = nil }
            }
        }
        events.flush()
    }

    /// A purge from beginning to end: returns when every name is gone for everybody.
    func purgeAndWait(_ job: PurgeJob) -> PurgeResult {
        let result = carryOut(job)
        let isDone = Gate()
        let seen = isDone.generation
        announce(result.removals) { isDone.advance() }
        isDone.wait(while: seen)
        return result
    }
}

// The kernel is told of a purged name by an unlink(2) of our own thread through the mount, which
// wakes watchers too (FUSE.md, Telling the kernel about a purge).
extension Volume {
    func isAnnouncer(_ caller: Caller) -> Bool { caller.pid != 0 && caller.pid == hooks.announcer() }

    /// For the announcing thread a purged name is still there.
    func ghost(_ name: Name, in parent: Node, caller: Caller) -> Entry? {
        guard isAnnouncer(caller) else { return nil }
        return state.withLock { state in
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
        let isGhost = state.withLock { state in
            state.ghosts[.init(directory: ObjectIdentifier(parent), name: name)] != nil
        }
        guard isGhost else { throw .noEntry }
    }
}
