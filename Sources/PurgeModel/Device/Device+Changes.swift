/// A change of the device that a user asks for.
public enum DeviceChange: Hashable, Sendable {
    case total(SizeChange)
    case others(SizeChange)
    case othersPurgeable(SizeChange)
    /// Percent, from 0 to 100.
    case othersShare(Int)
    case thresholds(ThresholdChange)
    /// Other rules of purging. Thresholds that are those of the old profile become those of the new one.
    case profile(Profile)
    /// How long purging in the background lags behind.
    case purgeLatency(TimeSpan)
    case journal(JournalBounds.Change)
    /// The device's clock is advanced.
    case clock(TimeSpan)
    /// The lock state changes; a device that is locked already, or was not unlocked since it booted, stays as it is.
    case lock
    case unlock
    /// Turned off and on again: `tmp` is emptied, and the app does not run.
    case reboot
    case app(AppCommand)
    /// Policies of directories are checked, or their directories emptied; the device itself does not change.
    case policies(PolicyCommand)
    /// None: that a backup was made is only recorded.
    case backup(BackupNote)
}

/// Why a change is refused; the device has not changed.
public enum DeviceRefusal: Error, Hashable, Sendable {
    /// The size would be below zero or above 1 EiB, or the clock more than 2^32 seconds ahead.
    case outOfRange
    /// More than others, of which it is a part.
    case moreThanOthers
    /// Thresholds that do not rise from very low to desired.
    case notRising
}

/// What a change of the device calls for, in the order in which it is carried out.
public enum DeviceEffect: Hashable, Sendable {
    /// An event to be recorded and sent to readers.
    case event(Event)
    /// The level has changed: threads that wait for it are woken, and an event is recorded.
    case level(LevelChange)
    /// From now on the device's clock is so many seconds ahead of real time.
    case clock(secondsAhead: Int64)
    /// These rules of purging are in force now.
    case profile(Profile)
    /// Files and folders of `tmp` that are over their age at this moment are removed (`PurgeRule.isOver`).
    case age(Instant)
    /// Purge until `Device.goal(for:)` asks for no more, or nothing is left.
    case purge(PurgeTrigger)
    /// The lock state is now this one, on which depends what data protection lets an app read.
    case lockState(LockState)
    /// The device, which has a mark of this work, is saved; if it cannot be, the work is abandoned (`Device.abandon`).
    /// Then the files that go are removed, folders too, whatever uses them, and `Device.finish` says what has changed.
    case work(DeviceWork)
    /// Policies of directories are checked, or their directories emptied.
    case policies(PolicyCommand)
    /// Folders that every container has are made again where they are missing.
    case makeLayout
    /// The attributes of files that programs have been told are no longer true.
    case forgetAttributes
    /// The change must survive a loss of power before it is acknowledged.
    case save
}

/// The pressure level has changed.
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
    /// Carries out a change at a moment of the device's own time, after what is due by then; for the clock, a moment that
    /// lies between the stamps that are to look older and those that are not. `text` is the command, and `pid` the
    /// process that gave it; all of that is in the event.
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
        case .clock(let span):
            try advanceClock(span, at: now)
            event.type = .clock
            return [.event(event), .clock(secondsAhead: clock)] + passed(to: now.advanced(by: span))
                + age(to: now.advanced(by: span)) + [.forgetAttributes, .save]
        case .lock: return lock.lock(at: now) ? toldState(by: pid, at: now) + [.save] : []
        case .unlock: return lock.unlock() ? toldState(by: pid, at: now) + [.save] : []
        case .reboot: return profile.rebootEmptiesTemporary ? begin(.reboot) : reboot(by: pid, at: now)
        case .app(let command): return command.carryOut(on: &self, by: pid, at: now)
        case .policies(let command):
            (event.type, event.reason) = (.policy, command.rawValue)
            return [.event(event), .policies(command)]
        case .backup(let note): return [.event(note.event(at: now, by: pid))]
        }
        revision += 1
        event.bytes = capacity.free
        let rules: [DeviceEffect] = if case .profile(let new) = change { [.profile(new)] } else { [] }
        return [.event(event)] + rules + effectsOnCapacity()
    }

    private mutating func effectsOnCapacity() -> [DeviceEffect] {
        var effects: [DeviceEffect] = []
        if let change = judgePressure() { effects.append(.level(change)) }
        if goal(for: .capacity) != nil { effects.append(.purge(.capacity)) }
        effects.append(.save)
        // What lags behind is not waited for.
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
    /// Sets what the capacity follows from.
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
        case .profile, .clock, .lock, .unlock, .reboot, .app, .policies, .backup: break
        }
    }
}

extension SizeChange {
    fileprivate func size(from current: ByteCount) throws(DeviceRefusal) -> ByteCount {
        guard let size = applied(to: current) else { throw .outOfRange }
        return size
    }
}

// What happens on the device.
extension Device {
    /// Brings the level in line with free space.
    public mutating func judgePressure() -> LevelChange? {
        let free = max(.zero, balance)
        let old = level
        level = old.following(free: free, thresholds: limits)
        if !reclaiming.isNone { reclaiming.settle(on: self, free: free) }
        guard level != old else { return nil }
        levelChanges += 1
        return LevelChange(from: old, to: level, free: free)
    }

    /// A purge takes whole blocks of what the system and other apps can free.
    public mutating func takeFromOthers(_ bytes: ByteCount) { changeOthers(by: .zero - max(.zero, bytes)) }

    /// The purge that took them does not take place.
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

    /// Not saved at once: a program that tries again and again would have the file written every second.
    public mutating func noteRefused() { counters.noteRefused() }
    public mutating func noteProtectionDenied() { counters.noteProtectionDenied() }
}
