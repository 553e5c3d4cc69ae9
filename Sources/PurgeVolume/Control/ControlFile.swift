import PurgeModel

/// The files of `MOUNT/.purgefs` (docs/CONTROL.md). A new one is a case here, its text in
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
    /// On the descriptor that wrote it reads what went.
    case storageReclaim = "storage.reclaim"
    /// Write what storage.reclaim takes, read back what it would do.
    case storagePlan = "storage.plan"
    case status = "status.json"
    case events = "events"

    /// What a write to it does to the device; nil where the text means nothing, or the file is not of that kind.
    func change(_ text: String) -> DeviceChange? {
        switch self {
        case .storageTotal: SizeChange(text: text).map { .total($0) }
        case .storageOthers: SizeChange(text: text).map { .others($0) }
        case .storageOthersPurgeable: SizeChange(text: text).map { .othersPurgeable($0) }
        case .storageThresholds: ThresholdChange(text: text).map { .thresholds($0) }
        default: nil
        }
    }

    /// Whether it reads what the last write to the same descriptor has brought about.
    var answers: Bool { self == .storageReclaim || self == .storagePlan }
    public var canWrite: Bool {
        switch self {
        case .storageTotal, .storageOthers, .storageOthersPurgeable, .storageThresholds, .storageReclaim,
            .storagePlan:
            true
        default: false
        }
    }
}
