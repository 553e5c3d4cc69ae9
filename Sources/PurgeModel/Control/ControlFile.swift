/// The files of `MOUNT/.purgefs`. The table in `ControlFile+Table.swift` of PurgeVolume has a row for each, with its content,
/// its parser and its documentation.
public enum ControlFile: String, CaseIterable, Sendable {
    case storageTotal = "storage.total"
    case storageOthers = "storage.others"
    case storageOthersPurgeable = "storage.others.purgeable"
    case storageOthersShare = "storage.others.share"
    case storageUsed = "storage.used"
    case storageAvailable = "storage.available"
    case storageImportant = "storage.important"
    case storageOpportunistic = "storage.opportunistic"
    case storageReclaimable = "storage.reclaimable"
    case storageThresholds = "storage.thresholds"
    case storagePressure = "storage.pressure"
    case storageStat = "storage.stat"
    case storageReclaim = "storage.reclaim"
    case storagePlan = "storage.plan"
    case storagePolicies = "storage.policies"
    case storageProfile = "storage.profile"
    case storagePurgeLatency = "storage.purge.latency"
    case deviceState = "device.state"
    case deviceClock = "device.clock"
    case deviceInactivity = "device.inactivity"
    case deviceBackup = "device.backup"
    case appState = "app.state"
    case appProcess = "app.process"
    case faults
    case journalSize = "journal.size"
    case journalAge = "journal.age"
    case status = "status.json"
    case events = "events"

    /// The directory of the control files, at the root of a mount.
    public static let directory = ".purgefs"
}
