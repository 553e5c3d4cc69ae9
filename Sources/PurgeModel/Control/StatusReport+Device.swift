extension StatusReport {
    /// Creates the report about a device and one container on it.
    public init(
        device: PurgeModel.Device, ledger: Ledger, mountpoint: String?, store: String, purging: Bool
    ) {
        self.init(
            profile: device.profile.rawValue, mountpoint: mountpoint, store: store, capacity: device.capacity,
            tiers: Tiers { Usage(ledger.usage(of: $0)) },
            marked: Marked(purgeable: Usage(ledger.marked), excludedFromBackup: Usage(ledger.excluded)),
            pressure: device.level, purging: purging,
            device: Device(
                state: device.state.shown.rawValue, clock: device.clock, boots: device.boots,
                unfinished: device.unfinished),
            app: App(container: device.containerID, state: device.app), counters: Counters(device.counters))
        if device.othersShare != OthersShare.most { storage.othersShare = device.othersShare }
        if device.state == .inactive { self.device.inactive = true }
    }
}

extension StatusReport.Usage {
    public init(_ usage: Ledger.Usage) { self.init(bytes: usage.bytes, files: usage.files) }
}

extension StatusReport.Counters {
    fileprivate init(_ counters: Device.Counters) {
        self.init()
        (purgedFiles, purgedBytes) = (counters.purgedFiles, counters.purgedBytes)
        (refusedWrites, protectionDenied) = (counters.refusedWrites, counters.protectionDenied)
    }
}
