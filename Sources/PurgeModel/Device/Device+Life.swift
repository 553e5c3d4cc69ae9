// The lock, and changes that come with time.
extension Device {
    public var state: LockState { lock.state }
    /// When `proceed` next has something to do; nil for never.
    public var nextDue: Instant? { [lock.nextDue, use.nextDue].compactMap { $0 }.min() }

    /// Returns whether `proceed` has something to do at this moment. That includes limiting the time left of `locking` or
    /// `locked` to its full length after the machine's clock was set back.
    public func isDue(at now: Instant) -> Bool { lock.isDue(at: now) || use.isDue(at: now) }

    /// Applies the changes that are due at this moment of the device's time.
    public mutating func proceed(to now: Instant) -> [DeviceEffect] {
        lock.limit(to: now)
        let effects = passed(to: now)
        return effects.isEmpty ? [] : effects + [.save]
    }

    /// Applies the changes that are due, without saving.
    mutating func passed(to now: Instant) -> [DeviceEffect] {
        use.pass(to: now)
        var effects: [DeviceEffect] = []
        while let moment = lock.proceed(to: now) { effects += toldState(at: moment) }
        return effects
    }

    mutating func toldState(by pid: Int32? = nil, at moment: Instant, trigger: PurgeTrigger? = nil) -> [DeviceEffect] {
        revision += 1
        let event = Event(time: moment.iso8601, type: .device, reason: state.rawValue, trigger: trigger, pid: pid)
        return [.event(event), .lockState(state)]
    }
}

// Work that must not be left half done: begin it, remove files, finish it. Before `finish`, the work sets only its mark, so a
// device with the mark is otherwise as it was before the work.
extension Device {
    mutating func begin(_ work: DeviceWork) -> [DeviceEffect] {
        unfinished = work
        revision += 1
        return [.work(work)]
    }

    /// Clears the mark of unfinished work. The volume calls this if saving the mark, or the end of earlier work, has failed.
    public mutating func abandon() {
        unfinished = nil
        revision += 1
    }

    /// Applies the work's change after its files have been removed. The removal has freed `freed` bytes, and `pid` is 0 for an
    /// unknown process. An update or a deletion gives the container the UUID `newID`.
    public mutating func finish(
        newID: String, freed: ByteCount, by pid: Int32, at now: Instant
    ) -> [DeviceEffect] {
        guard let work = unfinished else { return [] }
        abandon()
        let pid = pid == 0 ? nil : pid
        guard work != .reboot else { return reboot(by: pid, at: now) }
        let wasRunning = AppState.end(on: &self, evenOffloaded: true, at: now)
        var event = Event(time: now.iso8601, type: .app, reason: work.rawValue, pid: pid, cause: containerID)
        containerID = newID
        if work == .delete { (use, event.bytes) = (AppUse(), freed) }
        return [.event(event)] + (wasRunning ? [.processes] : []) + [.save]
    }

    /// Turns the device off and on again, once the files that a reboot removes are gone.
    mutating func reboot(by pid: Int32?, at now: Instant) -> [DeviceEffect] {
        let wasRunning = AppState.end(on: &self, at: now)
        boots = min(boots + 1, ByteCount.largestSetting.bytes)
        lock.reboot()
        let end = Event(
            time: now.iso8601, type: .app, reason: AppCommand.terminate.rawValue, trigger: .reboot, pid: pid)
        return (wasRunning ? [.event(end), .processes] : []) + toldState(by: pid, at: now, trigger: .reboot) + [.save]
    }
}
