import PurgeModel
import PurgeSystem

/// Since when purging in the background is called for, and whether it has waited as long as it lags.
struct ReclaimCall {
    /// By the monotonic clock; nil as long as nothing is purged in the background.
    private var moment: Int64?
    /// Whether it was called for in this change.
    private(set) var isNew = false

    /// What the last step of the purge has left to files: see `OthersShare`.
    var leftToFiles = ByteCount.zero

    /// If not, and the device is calm, `note` has nothing to do.
    var isUnderWay: Bool { moment != nil || isNew }

    /// At the end of each change. Returns whether it is over.
    mutating func note(_ device: borrowing Device) -> Bool {
        isNew = false
        guard device.shouldReclaim else {
            defer { (moment, leftToFiles) = (nil, .zero) }
            return moment != nil
        }
        if moment == nil { (moment, isNew) = (System.uptime(), true) }
        return false
    }

    /// Whether it may begin, or go on.
    func mayBegin(_ device: borrowing Device) -> Bool { millisecondsLeft(device) == 0 }

    /// How long it is still to wait; nil if nothing calls for it. What has begun goes on, however long the latency is now.
    func millisecondsLeft(_ device: borrowing Device) -> Int64? {
        guard let moment else { return nil }
        let lag = device.profile.lag(device.purgeLatency).seconds
        guard lag > 0, device.reclaiming.urgency == nil else { return 0 }
        let left = moment + lag * 1_000_000_000 - System.uptime()
        return left > 0 ? left / 1_000_000 + 1 : 0
    }
}
