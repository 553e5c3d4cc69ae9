/// Work on the files of a store that a command begins, and that the next mount finishes if the daemon ends meanwhile.
public enum DeviceWork: String, Codable, Sendable {
    /// `tmp` is emptied.
    case reboot
    /// `tmp` is emptied, and the container gets another UUID.
    case update
    /// The container is emptied, and gets another UUID.
    case delete
}

// The lock state, and what happens to the device as its time passes.
extension Device {
    /// How long a device that has been locked can still read everything.
    public static let lockingTime = TimeSpan(seconds: 10)

    /// When `proceed` has something to do next; nil if never.
    public var nextDue: Instant? { state == .locking ? locksAt : nil }

    /// Carries out what is due at this moment of the device's own time.
    public mutating func proceed(to now: Instant) -> [DeviceEffect] {
        // The machine's clock may have been set back, and a file can have any moment.
        locksAt = min(locksAt, now.advanced(by: Self.lockingTime))
        let effects = passed(to: now)
        return effects.isEmpty ? [] : effects + [.save]
    }

    /// The same without saving.
    mutating func passed(to now: Instant) -> [DeviceEffect] {
        guard let nextDue, nextDue <= now else { return [] }
        return enter(.locked, at: nextDue)
    }

    /// Before the first unlock everything stays locked as it is, and so it does while it is locking or locked.
    mutating func lock(by pid: Int32, at now: Instant) -> [DeviceEffect] {
        guard state == .unlocked else { return [] }
        let effects = enter(.locking, by: pid, at: now)
        locksAt = now.advanced(by: Self.lockingTime)
        return effects + [.save]
    }

    mutating func unlock(by pid: Int32, at now: Instant) -> [DeviceEffect] {
        state == .unlocked ? [] : enter(.unlocked, by: pid, at: now) + [.save]
    }

    private mutating func enter(
        _ new: LockState, by pid: Int32? = nil, at moment: Instant, trigger: PurgeTrigger? = nil
    ) -> [DeviceEffect] {
        (state, locksAt) = (new, .distantPast)
        revision += 1
        // A store without a mark of time has been locking since long ago.
        let time = moment == .distantPast ? "" : moment.iso8601
        let event = Event(time: time, type: .device, reason: new.rawValue, trigger: trigger, pid: pid)
        return [.event(event), .lockState(new)]
    }
}

// Work that must not be left half done: it is begun, then files are removed, then it is finished. Nothing else changes
// before the end, so a device with the mark of the work is as it was before.
extension Device {
    mutating func begin(_ work: DeviceWork) -> [DeviceEffect] {
        unfinished = work
        revision += 1
        return [.work(work)]
    }

    /// The work does not take place, because its mark cannot be saved.
    public mutating func abandon() {
        unfinished = nil
        revision += 1
    }

    /// The files have been removed, which has freed so many bytes. `newID` is for the container of another installation.
    public mutating func finish(
        newID: String, freed: ByteCount, by pid: Int32, at now: Instant
    ) -> [DeviceEffect] {
        guard let work = unfinished else { return [] }
        let pid = pid == 0 ? nil : pid
        unfinished = nil
        revision += 1
        switch work {
        case .reboot: return finishReboot(by: pid, at: now)
        case .update, .delete:
            (containerID, isRunning) = (newID, false)
            let event = Event(
                time: now.iso8601, type: .app, bytes: work == .delete ? freed : nil, reason: work.rawValue, pid: pid)
            return [.event(event), .save]
        }
    }

    private mutating func finishReboot(by pid: Int32?, at now: Instant) -> [DeviceEffect] {
        boots = min(boots + 1, ByteCount.largestSetting.bytes)
        let wasRunning = isRunning
        isRunning = false
        let end = Event(
            time: now.iso8601, type: .app, reason: AppCommand.terminate.rawValue, trigger: .reboot, pid: pid)
        return (wasRunning ? [.event(end)] : [])
            + enter(.beforeFirstUnlock, by: pid, at: now, trigger: .reboot) + [.save]
    }
}

// The app.
extension Device {
    mutating func make(_ command: AppCommand, by pid: Int32, at now: Instant) -> [DeviceEffect] {
        let event = Event(time: now.iso8601, type: .app, reason: command.rawValue, pid: pid)
        switch command {
        case .launch where !isRunning:
            isRunning = true
            return [.event(event), .makeLayout]
        case .terminate where isRunning:
            isRunning = false
            return [.event(event)]
        case .launch, .terminate: return []
        case .update: return begin(.update)
        case .delete: return begin(.delete)
        }
    }
}
