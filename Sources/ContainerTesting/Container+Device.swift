import Foundation

extension Container {
    /// Changes the device; nil leaves a setting unchanged. The call waits for all purging that it causes, except for a
    /// background purge with a latency. Write other settings of `purgefs set` by name: `write("journal.size", "64M")`.
    public func set(
        total: Change? = nil, others: Change? = nil, othersPurgeable: Change? = nil, othersShare: Int? = nil,
        thresholds: Thresholds? = nil, profile: Profile? = nil, purgeLatency: Span? = nil
    ) throws {
        let values: [(String, String?)] = [
            ("total", total?.description), ("others", others?.description),
            ("others.purgeable", othersPurgeable?.description), ("others.share", othersShare.map(String.init)),
            ("thresholds", thresholds?.description), ("profile", profile?.rawValue),
            ("purge.latency", purgeLatency?.description),
        ]
        for case (let name, let value?) in values { try write("storage.\(name)", value) }
    }

    /// Returns how many bytes can be written at a place now, in whole blocks of 4096: docs/RULES.md, The number is the truth.
    public func room(at place: some ContainerPath = "Documents") throws -> Int {
        guard !hasEnded else { throw ContainerError.ended(path) }
        let file = try absolute(place)
        var space = statvfs()
        while statvfs(file, &space) != 0 {
            guard errno == EINTR else { throw ContainerError.failed("the room", file, errno) }
        }
        return Int(space.f_bavail) * Int(space.f_frsize)
    }

    /// Changes the space of the other apps so that exactly `size` can be written at a place. The size must be a multiple of
    /// 4096, the unit of charging, and not be written as a fraction. The call returns when the purging that it causes is done.
    ///
    /// The room in Documents includes everything that purging would free, so after `fill(leaving: 0)` no further purge can
    /// help. `tmp` and `Library/Caches` never have more room than Documents. Throws `cannotLeave`.
    public func fill(leaving size: Size, at place: some ContainerPath = "Documents") throws {
        try Filling(container: self, place: place.containerPath, size: size).perform()
    }

    /// Locks the device. Unless `waiting` is false, the clock skips the ten seconds in which protected files stay accessible.
    public func lock(waiting: Bool = true) throws {
        try write("device.state", "lock")
        if waiting, try deviceState == .locking { try advance(.seconds(10)) }
    }
    public func unlock() throws { try write("device.state", "unlock") }

    /// Reboots the device to `beforeFirstUnlock`, marks the app as terminated and, except in profile `device`, empties `tmp`.
    public func reboot() throws { try write("device.state", "reboot") }
    public var deviceState: DeviceState { get throws { try status.device.state } }
    /// Advances the device's clock, so that all files look older by `span`: docs/CLOCK.md.
    public func advance(_ span: Span) throws { try write("device.clock", "+\(span)") }
    /// Changes the app's state. Launching an app that does not run also recreates missing folders and applies policies.
    public func app(_ change: AppChange) throws { try write("app.state", change.rawValue) }
    /// Makes a process the app. It is stopped, continued and killed, with its descendants, as the state of the app says.
    public func setAppProcess(_ pid: Int32) throws { try write("app.process", "\(pid)") }
    /// Sets rules of faults, such as `write@Documents/*#3=ENOSPC`: docs/FAULTS.md.
    public func fail(_ rules: String...) throws { try write("faults", rules.joined(separator: "\n")) }
    /// Removes all rules of faults, and ends a full device.
    public func endFaults() throws { try write("faults", "off") }
}

private struct Filling {
    let container: Container
    let place: String
    let size: Container.Size

    func perform() throws {
        guard let wanted = size.bytes, wanted % 4096 == 0 else {
            throw ContainerError.cannotLeave(size, "name a multiple of 4096 bytes, such as 8192, \"64K\" or \"1M\"")
        }
        for _ in 0..<10 {
            var room = try container.room(at: place)
            if room == wanted { return }
            var storage = try container.status.storage
            if room < wanted {  // `room` is at least 0, even if others exceeds the device.
                try container.set(others: .to(Container.Size(storage.othersPurgeable)))
                room = try container.room(at: place)
                storage = try container.status.storage
            }
            if room < wanted {
                throw ContainerError.cannotLeave(
                    size, "\(place) has only \(room) bytes on a device without other apps")
            }
            try container.set(others: .to(Container.Size(storage.others + room - wanted)))
        }
        throw ContainerError.cannotLeave(
            size, "\(try container.room(at: place)) bytes are left; is something else writing?")
    }
}
