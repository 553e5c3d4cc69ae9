import PurgeModel
import PurgeSystem

/// Since when purging in the background is called for, and whether it has waited as long as it lags.
struct ReclaimCall {
    /// By the monotonic clock; nil as long as nothing is purged in the background.
    private var moment: Int64?
    /// Whether it was called for in this change.
    private(set) var isNew = false

    /// If not, and the device is calm, `note` has nothing to do.
    var isUnderWay: Bool { moment != nil || isNew }

    /// At the end of each change. Returns whether it is over.
    mutating func note(_ device: borrowing Device) -> Bool {
        isNew = false
        guard device.shouldReclaim else {
            defer { moment = nil }
            return moment != nil
        }
        if moment == nil { (moment, isNew) = (System.uptime(), true) }
        return false
    }

    /// Whether it may begin, or go on.
    func mayBegin(_ device: borrowing Device) -> Bool { millisecondsLeft(device) == 0 }

    /// How long it is still to wait; nil if nothing calls for it.
    func millisecondsLeft(_ device: borrowing Device) -> Int64? {
        guard let moment else { return nil }
        let lag = device.profile.lag(device.purgeLatency).seconds
        guard lag > 0 else { return 0 }
        let left = moment + lag * 1_000_000_000 - System.uptime()
        return left > 0 ? left / 1_000_000 + 1 : 0
    }
}
