import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// Changes of the device, with everything that they require. Control files, and threads of the volume that act for the device
/// itself, change its settings and state only here.
struct DeviceChanges: VolumeFamily {
    let core: VolumeCore
    let keeper: StoreKeeper

    /// Makes a change that `text` asks for, and returns when everything that the change requires is done. EINVAL if the device
    /// refuses the change. EIO if the change is in force but could not be saved; saving is retried every second. A change that
    /// removes files can also throw the errors of `carryOut`.
    func apply(_ wanted: DeviceChange, as text: String, by pid: pid_t) throws(Errno) {
        var moment: FileTime?
        if case .clock = wanted { moment = try store.momentBetweenStamps() }
        let stamp = moment
        try make(by: pid) { (device, now) throws(DeviceRefusal) in
            let now = stamp.map { device.fileClock.time(of: $0) } ?? now
            return try device.apply(wanted, as: text, by: pid, at: now)
        }
        awaitLockState()
    }

    /// Waits until all changes of the lock state, by any thread, have been carried out, so that a device that is reported as
    /// locked really is. The kernel may need requests to be served first, so no thread that serves requests should wait here.
    func awaitLockState() {
        while true {
            let seen = core.deviceSettled.generation
            guard core.lockStateChanges.load(ordering: .sequentiallyConsistent) > 0 else { return }
            core.deviceSettled.wait(while: seen)
        }
    }

    /// Makes any change. `decide` gets the time by the device's clock, changes the device under the lock, and returns the
    /// effects. Carrying out the effects may take as long as a purge, so this must not be called on a thread that serves
    /// requests.
    func make(
        by pid: pid_t, _ decide: (inout Device, Instant) throws(DeviceRefusal) -> [DeviceEffect]
    ) throws(Errno) {
        let (effects, lockStates) = try change { (state) throws(Errno) in
            state.actor = .init(tid: pid)
            do throws(DeviceRefusal) {
                let effects = try step(&state, decide)
                let lockStates = effects.count { if case .lockState = $0 { true } else { false } }
                core.lockStateChanges.add(lockStates, ordering: .sequentiallyConsistent)
                return (effects, lockStates)
            } catch { throw error == .notRunning || error == .offloaded ? .noSuchProcess : .invalid }
        }
        defer {
            core.lockStateChanges.subtract(lockStates, ordering: .sequentiallyConsistent)
            core.deviceSettled.advance()
            // Something else may be due next.
            core.deviceGate.advance()
            core.reclaimerGate.advance()
        }
        // A call that meets a fault waits for the change alone.
        core.deviceSettled.advance()
        try carryOut(effects, pid)
    }

    /// Changes the device at the present time of its clock, and carries out the effects that belong to the same step.
    func step<Failure: Error>(
        _ state: inout VolumeState, _ decide: (inout Device, Instant) throws(Failure) -> [DeviceEffect]
    ) throws(Failure) -> [DeviceEffect] {
        let now = clock.now
        let effects = try state.tree.accounts.change { (device) throws(Failure) in try decide(&device, now) }
        for effect in effects { state.take(effect, core) }
        return effects
    }

    /// Carries out, in order, the effects that need no lock.
    private func carryOut(_ effects: [DeviceEffect], _ pid: pid_t) throws(Errno) {
        var isSaved = true
        for effect in effects {
            switch effect {
            case .event, .level, .clock: break  // `VolumeState.take` has done it
            case .age(let moment): age(moment, pid)
            case .purge(.pressure): Reclaimer(core: core).awaitPressure()
            case .purge(let trigger): purge(trigger, pid)
            case .work(let work): try carryOut(work, pid)
            case .processes: try followApp(pid)
            case .killApp:
                core.app.kill()
                core.appTerminations.add(1, ordering: .relaxed)
            case .launch:
                containerFolders.make()
                policies.begin()
            case .policies(.check): policies.check()
            case .policies(.reset): policies.reset(pid)
            case .lockState(let state):
                if state.restrictsData { protection.dropPages() } else { refusedPages.awaitDrops() }
            case .forgetAttributes: forgetAttributes()
            case .save: isSaved = keeper.saveDevice(durably: true)
            }
        }
        // Only purgefs reads the journal of a temporary store, and it flushes the journal first.
        if !store.isTemporary { keeper.awaitJournal() }
        // The first pass may have missed a renamed folder, and an answer from before the change may have reached the kernel
        // after that pass.
        if effects.contains(.forgetAttributes) { forgetAttributes() }
        guard isSaved else { throw .ioError }
    }

    /// Removes files and empty folders that are too old from tmp. If the mount ends first, the next mount does the rest.
    private func age(_ moment: Instant, _ pid: pid_t) {
        purgedNames.awaitingAnnouncements { debt in
            _ = EmptiedFolder(core: core, work: .ageing(moment), pid: pid).empty(&debt)
        }
        guard core.isEnding.load(ordering: .sequentiallyConsistent) else { return }
        change { state in state.tree.accounts.change { $0.ageing.takeBack(moment) } }
    }

    private func purge(_ trigger: PurgeTrigger, _ pid: pid_t) {
        purgedNames.awaitingAnnouncements { debt in
            purger.purge(trigger: trigger, tid: pid, &debt) { state, _ in state.device.goal(for: trigger) }
        }
    }

    /// Makes the kernel ask again for the attributes of each entry that it knows, so that every answer is up to date. An
    /// entry without a name is found only if it is an open file.
    private func forgetAttributes() {
        let nameless = read { state in state.handles.files { state[$0].isUnlinked ? $0.address : nil } }
        port.forgetAttributes(of: [KernelID.root] + nameless)
        var pending = [root]
        while let folder = pending.popLast() {
            let nodes = Array(entries(of: folder).values)
            pending += nodes.filter(\.isDirectory)
            let known = selections.inSlices(nodes) { node, state in state[node].lookups > 0 ? node.address : nil }
            if !known.isEmpty { port.forgetAttributes(of: known) }
        }
    }
}

extension VolumeState {
    /// Carries out the part of an effect that belongs to the same step as the change. Only this function sets the clock and
    /// `restrictsData` after the start, so under the lock they always agree with the device.
    fileprivate mutating func take(_ effect: DeviceEffect, _ core: VolumeCore) {
        switch effect {
        case .event(let event): outbox.append(event)
        case .level(let change): note(change)
        case .clock(let seconds): core.clock.set(secondsAhead: seconds)
        case .lockState(let state): core.note(state)
        case .age, .purge, .work, .policies, .processes, .killApp, .launch, .forgetAttributes, .save: break
        }
    }
}
