extension Device {
    /// Returns the device for a container that is restored from a backup made on this device: with the same settings, and with
    /// a new device's state, counters and clock.
    public func restored(containerID: String) -> Device {
        var device = Device(containerID: containerID)
        device.set(profile)
        (device.total, device.thresholds, device.purgeLatency) = (total, thresholds, purgeLatency)
        (device.others, device.othersPurgeable, device.othersShare) = (others, othersPurgeable, othersShare)
        (device.protection, device.journal) = (protection, journal)
        device.lock.inactivity = lock.inactivity
        return device
    }
}
