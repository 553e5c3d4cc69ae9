import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// Carries out purges, and chooses their files in steps.
struct Purger: VolumeFamily {
    let core: VolumeCore

    /// How many files a purge chooses under the lock and then removes together, so that no call waits long for the lock or
    /// for a name.
    static let batch = 256
    /// How long, in nanoseconds, a purge waits for files that other calls hold.
    static let patienceForHeldFiles: Int64 = 10_000_000_000

    /// Removes the files of a purge from the store and from the tree; `report` gets the events of each batch. Returns false if
    /// files that could not be removed went back into the ledger, and more is now charged than the device has room for.
    @discardableResult
    func carryOut(
        _ purge: consuming Purge, _ debt: inout AnnouncementDebt, report: ([Event]) -> Void = { _ in }
    ) -> Bool {
        let began = clock.now
        var isEnough = true
        port.expectSlowWork()
        report(record(fromOthers: purge.plan.fromOthers, of: &purge))
        var victims = purge.plan.victims[...]
        repeat {
            while !victims.isEmpty {
                let batch = remove(victims.prefix(Self.batch), of: &purge, &debt)
                victims = victims.dropFirst(Self.batch)
                if !batch.instead.isEmpty { victims += batch.instead }
                isEnough = isEnough && batch.isEnough
                report(batch.events)
            }
            // A group is purged as a whole, even if less would be enough.
            if !purge.plan.unfinished.isEmpty {
                let now = clock.now
                victims += change { rest(of: purge.plan.unfinished, since: began, until: now, &$0) }
            }
        } while !victims.isEmpty
        report(record(fromOthers: purge.plan.restOfOthers, of: &purge))
        change { $0.noteTold(purge) }
        change { state in
            state.noteEnd(of: purge)
            state.tree.accounts.notePurged(bytes: purge.plan.allFromOthers)
        }
        return isEnough
    }

    /// Carries out a purge, and returns when every name is gone for every process.
    func purgeAndWait(_ purge: consuming Purge) {
        var chosen = Optional(purge)
        purgedNames.awaitingAnnouncements { debt in
            if let purge = chosen.take() { carryOut(purge, &debt) }
        }
    }

    /// Removes one batch. The returned `instead` must be purged in place of files that could not be removed from the store.
    private func remove(
        _ victims: ArraySlice<Victim<Node>>, of purge: inout Purge, _ debt: inout AnnouncementDebt
    ) -> (events: [Event], instead: [Victim<Node>], isEnough: Bool) {
        // Names are being removed: see `StoreAccess.reading`.
        core.moves.add(1, ordering: .acquiringAndReleasing)
        defer { core.movesEnded.add(1, ordering: .acquiringAndReleasing) }
        var (removals, told, failed): ([Removal], [Event], [Victim<Node>]) = ([], [], [])
        var missing: Set<ObjectIdentifier> = []
        // A directory cannot be removed before the victims in it, so the names stay valid without the lock.
        for (victim, name) in read({ state in victims.map { ($0, Removal($0.file, in: state)) } }) {
            guard var removal = name else {
                failed.append(victim)
                continue
            }
            do throws(Errno) {
                try remove(&removal, &missing)
                removals.append(removal)
                told.append(purge.event(victim, removal))
            } catch { failed.append(victim) }
        }
        let trigger = purge.trigger
        let (sidecars, instead, isEnough) = change { state -> ([String], PurgePlan<Node>, Bool) in
            let sidecars = removals.indices.compactMap { finish(&removals[$0], &state) }
            if removals.contains(where: \.purgedName.isEmptied) { core.filesEmptied.add(1, ordering: .relaxed) }
            let instead = reinstate(failed, trigger, &state)
            state.tree.accounts.notePurged(files: Int64(removals.count), bytes: told.freed + instead.allFromOthers)
            return (sidecars, instead, failed.isEmpty || state.capacity.balance >= .zero)
        }
        for sidecar in sidecars { store.removeSidecar(sidecar) }
        if instead.allFromOthers > .zero { told.append(purge.event(.others, bytes: instead.allFromOthers)) }
        record(&told, of: &purge)
        debt.add(removals)
        return (told, instead.victims, isEnough)
    }

    private func record(fromOthers bytes: ByteCount, of purge: inout Purge) -> [Event] {
        var told = bytes > .zero ? [purge.event(.others, bytes: bytes)] : []
        record(&told, of: &purge)
        return told
    }

    private func record(_ told: inout [Event], of purge: inout Purge) {
        guard !told.isEmpty else { return }
        if !purge.plan.passedOver.isEmpty {
            told[0].passedOver = purge.plan.passedOver
            purge.plan.passedOver = []
        }
        events.append(told)
    }

    /// Purges in steps that hold the lock for milliseconds, until `goal` asks for no more or nothing is left. `goal` is called
    /// before each step with the bytes freed so far. Waits for files that are being changed, until none is released for a
    /// second or nothing has been purged for ten. If everything in a place is to be purged, files used since the purge began
    /// are spared, so that the purge ends even if new files keep coming.
    func purge(
        trigger: PurgeTrigger, tid: pid_t, _ debt: inout AnnouncementDebt, report: ([Event]) -> Void = { _ in },
        _ goal: (borrowing VolumeState, ByteCount) -> PurgeGoal?
    ) {
        // Done once, at the beginning: a plan can then predict which files are purged because they exceed a policy.
        policies.settle()
        var course = PurgeCourse(trigger: trigger, tid: tid, began: clock.now)
        var lastPurge = System.uptime()
        while true {
            let (seen, now) = (core.released.generation, clock.now)
            let purge = change { state in course.choose(goal(state, course.freed), at: now, &state) }
            if let purge {
                course.leftToFiles = purge.plan.leftToFiles
                carryOut(purge, &debt) { events in
                    course.freed += events.freed
                    report(events)
                }
            } else if let folder = course.folder {
                let part = WholeFolderPurge(
                    core: core, folder: folder, trigger: trigger, isNamed: course.isPlace, tid: tid
                ).run(&debt, report: report)
                course.freed += part
                course.leftToFiles = max(.zero, course.leftToFiles - part)
                // Nothing is left in its turn that can be removed, or the app has come to the foreground.
                if course.isPlace || part == .zero { return }
            } else if !course.isHeld || System.uptime() - lastPurge > Self.patienceForHeldFiles
                || !core.released.wait(while: seen, milliseconds: 1000)
            {
                return
            } else {
                continue
            }
            lastPurge = System.uptime()
        }
    }
}

/// The course of a purge in steps.
private struct PurgeCourse {
    let trigger: PurgeTrigger
    let tid: pid_t
    let began: Instant
    var freed = ByteCount.zero
    var leftToFiles = ByteCount.zero
    /// The folder that goes next, as a whole, if the last call of `choose` has returned nil.
    private(set) var folder: WholeFolder?
    /// Whether the goal is a place, which is purged only once.
    private(set) var isPlace = false
    /// Whether files that are being changed could be purged later.
    private(set) var isHeld = false

    /// Decides on the next step towards a goal. Returns nil if there is none, or a folder goes next.
    mutating func choose(_ goal: PurgeGoal?, at now: Instant, _ state: inout VolumeState) -> Purge? {
        (folder, isHeld) = (nil, false)
        guard let goal else { return nil }
        isPlace = goal.step != nil
        folder = goal.folder(in: state.device.profile)
        if folder != nil { return nil }
        let spared = goal.isWhole ? began...max(began, now) : nil
        let purge = state.choose(
            goal, trigger: trigger, tid: tid, limit: Purger.batch, spared: spared, leftToFiles: leftToFiles)
        guard let purge else {
            folder = state.tree.nextFolder(spared: spared, in: state.device.order(for: goal, trigger))
            isHeld = state.device.held > .zero
            return nil
        }
        return purge
    }
}
