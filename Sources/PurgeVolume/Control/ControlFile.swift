/// The files of `MOUNT/.purgefs` (SPEC section 5). A new one is a case here, its text in
/// `Volume.controlText` and, if it can be written, its command in `Volume.controlCommand`.
public enum ControlFile: String, CaseIterable, Sendable {
    case storageTotal = "storage.total"
    case storageOthers = "storage.others"
    case storageOthersPurgeable = "storage.others.purgeable"
    case storageUsed = "storage.used"
    case storageAvailable = "storage.available"
    case storageImportant = "storage.important"
    case storageOpportunistic = "storage.opportunistic"
    case storageReclaimable = "storage.reclaimable"
    case storageThresholds = "storage.thresholds"
    case storageStat = "storage.stat"
    case storagePressure = "storage.pressure"
    case storageReclaim = "storage.reclaim"
    /// Write what storage.reclaim takes, read back what it would do.
    case storagePlan = "storage.plan"
    case status = "status.json"
    case events = "events"

    public var canRead: Bool { self != .storageReclaim }
    public var canWrite: Bool {
        switch self {
        case .storageTotal, .storageOthers, .storageOthersPurgeable, .storageThresholds, .storageReclaim,
            .storagePlan:
            true
        default: false
        }
    }
}
