/// A change to the device that a user requests.
public enum DeviceChange: Hashable, Sendable {
    case total(SizeChange)
    case others(SizeChange)
    case othersPurgeable(SizeChange)
    /// Percent, from 0 to 100.
    case othersShare(Int)
    case thresholds(ThresholdChange)
    /// Switches to another profile. Thresholds with the old profile's defaults get the new profile's.
    case profile(Profile)
    /// The latency of the background purge.
    case purgeLatency(TimeSpan)
    case journal(JournalBounds.Change)
    /// Advances the device's clock.
    case clock(TimeSpan)
    /// Locks the device. A device that is already locking or locked, or has not been unlocked since it booted, stays as it is.
    case lock
    /// Locks a device that is unlocked or `locking`, without the grace period; only faults do that.
    case lockAtOnce
    case unlock
    /// Sets the time from the lock until access to files of class `completeWhenUserInactive` expires.
    case inactivity(TimeSpan)
    /// Turns the device off and on again. The app no longer runs, and profile `documented` empties `tmp`.
    case reboot
    case app(AppCommand)
    /// Checks directory policies, or empties their directories; the device itself does not change.
    case policies(PolicyCommand)
    /// Records that a backup was created; the device does not change.
    case backup(BackupNote)
}

/// Why a change is refused. A refused change leaves the device as it was.
public enum DeviceRefusal: Error, Hashable, Sendable {
    /// A size would be negative or above 1 EiB, the clock more than 2^32 seconds ahead, or another number outside its range.
    case outOfRange
    /// The purgeable part of others would exceed others.
    case moreThanOthers
    /// The thresholds would not ascend from very low to desired.
    case notRising
    /// The app does not run, so it cannot be suspended.
    case notRunning
    /// The app is offloaded, so it cannot start.
    case offloaded
}

/// An effect of a change to the device; effects are carried out in order.
public enum DeviceEffect: Hashable, Sendable {
    /// Record the event and send it to readers.
    case event(Event)
    /// Wake the threads that wait for a change of level, and record an event.
    case level(LevelChange)
    /// Set the device's clock this far ahead of real time.
    case clock(secondsAhead: Int64)
    /// Remove the files and folders of `tmp` that are over age at this moment (`PurgeRule.isOver`).
    case age(Instant)
    /// Purge until `Device.goal(for:)` returns nil, or nothing is left.
    case purge(PurgeTrigger)
    /// Switch to this lock state; it decides which data an app can reach.
    case lockState(LockState)
    /// Save the device with the mark of this work. If that fails, abandon the work (`Device.abandon`). Otherwise remove the
    /// files and folders that must go, even files in use, and apply the change with `Device.finish`.
    case work(DeviceWork)
    /// Check directory policies, or empty their directories.
    case policies(PolicyCommand)
    /// Stop, continue or kill the processes of the app, as its state says.
    case processes
    /// Kill the processes of the app.
    case killApp
    /// Recreate missing standard folders, and begin to carry out directory policies.
    case launch
    /// Invalidate the file attributes that the kernel has cached.
    case forgetAttributes
    /// Save the change so that it survives a loss of power, before it is acknowledged.
    case save
}

/// A change to the pressure level.
public struct LevelChange: Hashable, Sendable {
    public var old: PressureLevel
    public var new: PressureLevel
    public var free: ByteCount

    public init(from old: PressureLevel, to new: PressureLevel, free: ByteCount) {
        self.old = old
        self.new = new
        self.free = free
    }

    public var isWorse: Bool { new.severity > old.severity }
}

extension Device {
    /// Applies a change at `now` in the device's time, after all changes that are due. For an advance of the clock, `now` must
    /// be later than every stamp that will look older, and not later than any other stamp. Events record `now` and the process
    /// that gave the command (`pid`). The event of a changed setting or clock also records the command (`text`).
    public mutating func apply(
        _ change: DeviceChange, as text: String, by pid: Int32, at now: Instant
    ) throws(DeviceRefusal) -> [DeviceEffect] {
        var next = self
        let due = next.proceed(to: now)
        let effects = try next.make(change, as: text, by: pid, at: now)
        self = next
        return due + effects
    }

    private mutating func make(
        _ change: DeviceChange, as text: String, by pid: Int32, at now: Instant
    ) throws(DeviceRefusal) -> [DeviceEffect] {
        var event = Event(time: now.iso8601, type: .capacity, reason: text, pid: pid)
        switch change {
        case .total, .others, .othersPurgeable, .othersShare, .thresholds, .purgeLatency, .journal:
            try change.setCapacity(of: &self)
        case .profile(let new): set(new, at: now)
        case .inactivity(let span): lock.setInactivity(span, at: now)
        case .clock(let span):
            try advanceClock(span, at: now)
            event.type = .clock
            return [.event(event), .clock(secondsAhead: clock)] + passed(to: now.advanced(by: span))
                + age(to: now.advanced(by: span)) + [.forgetAttributes, .save]
        case .lock: return lock.lock(at: now) ? toldState(by: pid, at: now) + [.save] : []
        case .lockAtOnce: return lock.lockAtOnce(at: now) ? toldState(by: pid, at: now) + [.save] : []
        case .unlock: return lock.unlock() ? toldState(by: pid, at: now) + [.save] : []
        case .reboot: return profile.rebootEmptiesTemporary ? begin(.reboot) : reboot(by: pid, at: now)
        case .app(let command): return try command.carryOut(on: &self, by: pid, at: now)
        case .policies(let command):
            (event.type, event.reason) = (.policy, command.rawValue)
            return [.event(event), .policies(command)]
        case .backup(let note): return [.event(note.event(at: now, by: pid))]
        }
        revision += 1
        event.bytes = capacity.free
        return [.event(event)] + passed(to: now) + effectsOnCapacity()
    }

    private mutating func effectsOnCapacity() -> [DeviceEffect] {
        var effects: [DeviceEffect] = []
        if let change = judgePressure() { effects.append(.level(change)) }
        if goal(for: .capacity) != nil { effects.append(.purge(.capacity)) }
        effects.append(.save)
        // A background purge that lags starts later, and no command waits for it.
        if reclaimUrgency != nil, profile.lag(purgeLatency).seconds == 0 { effects.append(.purge(.pressure)) }
        return effects
    }

    private mutating func advanceClock(_ span: TimeSpan, at now: Instant) throws(DeviceRefusal) {
        let (new, overflow) = clock.addingReportingOverflow(span.seconds)
        guard !overflow, new >= clock, new <= Self.mostSecondsAhead else { throw .outOfRange }
        history.advance(by: span.seconds, at: FileTime(now).earlier(by: clock))
        clock = new
        revision += 1
    }
}

extension DeviceChange {
    /// Applies a change to a setting, which `make` reports as an event of type `capacity`.
    fileprivate func setCapacity(of device: inout Device) throws(DeviceRefusal) {
        switch self {
        case .total(let change): device.total = try change.size(from: device.total).roundedDown
        case .others(let change):
            device.others = try change.size(from: device.others).roundedUp
            device.othersPurgeable = min(device.othersPurgeable, device.others)
        case .othersPurgeable(let change):
            let size = try change.size(from: device.othersPurgeable).roundedUp
            guard size <= device.others else { throw .moreThanOthers }
            device.othersPurgeable = size
        case .othersShare(let percent):
            guard (0...OthersShare.most).contains(percent) else { throw .outOfRange }
            device.othersShare = percent
        case .thresholds(let change):
            let old = change.startsOver ? device.profile.thresholds : device.thresholds
            guard let new = old.applying(change, total: device.total) else { throw .notRising }
            device.thresholds = new
        case .purgeLatency(let span): device.purgeLatency = span
        case .journal(let change): try device.journal.make(change)
        case .profile, .clock, .lock, .lockAtOnce, .unlock, .inactivity, .reboot, .app, .policies, .backup: break
        }
    }
}

extension SizeChange {
    fileprivate func size(from current: ByteCount) throws(DeviceRefusal) -> ByteCount {
        guard let size = applied(to: current) else { throw .outOfRange }
        return size
    }
}

// Changes to the device that no user requests.
extension Device {
    /// Updates the level to match free space, and settles the background purge. Returns the change of level, if any.
    public mutating func judgePressure() -> LevelChange? {
        let (free, old) = (max(.zero, balance), level)
        level = old.following(free: free, thresholds: limits)
        if !reclaiming.isNone { reclaiming.settle(on: self, free: free) }
        guard level != old else { return nil }
        levelChanges += 1
        return LevelChange(from: old, to: level, free: free)
    }

    /// Subtracts the whole blocks that a purge takes from others.purgeable; `others` shrinks by the same amount.
    public mutating func takeFromOthers(_ bytes: ByteCount) { changeOthers(by: .zero - max(.zero, bytes)) }

    /// Reverts `takeFromOthers` for a purge that does not take place after all.
    public mutating func returnToOthers(_ bytes: ByteCount) { changeOthers(by: max(.zero, bytes)) }

    private mutating func changeOthers(by bytes: ByteCount) {
        guard bytes != .zero else { return }
        othersPurgeable += bytes
        others += bytes
        revision += 1
    }

    public mutating func notePurged(files: Int64 = 0, bytes: ByteCount) {
        counters.notePurged(files: files, bytes: bytes)
        revision += 1
    }

    /// Counts a refused write. The counter is not saved at once: a program that keeps retrying would cause a save every second.
    public mutating func noteRefused() { counters.noteRefused() }
    public mutating func noteProtectionDenied() { counters.noteProtectionDenied() }
}
