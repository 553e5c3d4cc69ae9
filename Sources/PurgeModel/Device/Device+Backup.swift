extension Device {
    /// The device on which a container is after it was restored from a backup: the settings are those of the device that
    /// was backed up; the state, the counters and the clock are those of a new one.
    public func restored(containerID: String) -> Device {
        var device = Device(containerID: containerID)
        device.set(profile)
        device.total = total
        (device.others, device.othersPurgeable) = (others, othersPurgeable)
        device.othersShare = othersShare
        device.thresholds = thresholds
        device.purgeLatency = purgeLatency
        (device.protection, device.journal) = (protection, journal)
        return device
    }
}
