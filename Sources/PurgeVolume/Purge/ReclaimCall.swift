import PurgeModel
import PurgeSystem

/// When the background purge was requested, and whether its latency has elapsed.
struct ReclaimCall {
    /// When the purge was requested, by the monotonic clock; nil while no background purge is requested.
    private var moment: Int64?
    /// Whether the purge was requested in this change.
    private(set) var isNew = false

    /// The bytes that the last step of the purge has left to files: see `OthersShare`.
    var leftToFiles = ByteCount.zero

    /// Whether a purge is requested. If not, and the device is calm, `note` has nothing to do.
    var isUnderWay: Bool { moment != nil || isNew }

    /// Updates the request at the end of a change. Returns whether this has ended a request.
    mutating func note(_ device: borrowing Device) -> Bool {
        isNew = false
        guard device.shouldReclaim else {
            defer { (moment, leftToFiles) = (nil, .zero) }
            return moment != nil
        }
        if moment == nil { (moment, isNew) = (System.uptime(), true) }
        return false
    }

    /// Whether the purge may begin, or go on.
    func mayBegin(_ device: borrowing Device) -> Bool { millisecondsLeft(device) == 0 }

    /// Returns how long the purge still has to wait; nil if none is requested. A purge that has begun goes on, whatever the
    /// latency is now.
    func millisecondsLeft(_ device: borrowing Device) -> Int64? {
        guard let moment else { return nil }
        let lag = device.profile.lag(device.purgeLatency).seconds
        guard lag > 0, device.reclaiming.urgency == nil else { return 0 }
        let left = moment + lag * 1_000_000_000 - System.uptime()
        return left > 0 ? left / 1_000_000 + 1 : 0
    }
}
