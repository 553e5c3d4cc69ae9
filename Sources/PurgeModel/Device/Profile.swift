/// The purging rules in effect (docs/RULES.md, Profiles).
public enum Profile: String, CaseIterable, Codable, Sendable {
    /// The rules as documented (docs/RULES.md, Where the rules come from).
    case documented
    /// The rules that real devices are said to follow.
    case device
}

// All differences between the profiles. Apart from a message of `purgefs why`, nothing else asks which profile is in effect.
extension Profile {
    /// The thresholds of a device on which none was set.
    public var thresholds: ThresholdSettings {
        switch self {
        case .documented: .documented
        case .device: .capped
        }
    }

    /// Whether a file's class decides how much a write may take, and an important write that is short of room purges for
    /// itself. Otherwise every write takes from free space, and none purges.
    public var writesPurge: Bool { self == .documented }

    /// Returns the capacity for data that an app can do without.
    func opportunistic(of capacity: Capacity) -> ByteCount {
        switch self {
        case .documented: return max(.zero, capacity.free - capacity.thresholds.low)
        case .device:
            let balance = capacity.balance + capacity.othersPurgeable + capacity.lowUrgencyFiles
            return min(capacity.important, max(.zero, balance - capacity.thresholds.low))
        }
    }

    /// Whether the background purge starts only after the device's `purgeLatency`.
    public var lags: Bool { self == .device }

    /// Returns the delay of the background purge, for a device with this latency.
    public func lag(_ latency: TimeSpan) -> TimeSpan { lags ? latency : TimeSpan(seconds: 0) }

    /// Whether unused files in `tmp` are removed once a day.
    public var agesTemporary: Bool { self == .device }

    public var rebootEmptiesTemporary: Bool { self == .documented }

    /// Returns the urgency of the background purge at a level, or nil if there is none.
    public func urgency(at level: PressureLevel) -> Urgency? {
        switch (self, level) {
        case (_, .normal), (.documented, .nearLow): nil
        case (.device, .nearLow): .low
        case (.device, .low): .medium
        case (.documented, .low), (_, .veryLow): .high
        }
    }

    /// Whether `Library/Caches` and `tmp` are purged as a whole.
    public var takesFoldersWhole: Bool { self == .device }

    /// Returns the order of a purge of this urgency, which may take `Library/Caches` or not. A command that names a place uses
    /// `PurgeOrder.documented` instead.
    public func order(_ urgency: Urgency, takesCaches: Bool) -> PurgeOrder {
        switch self {
        case .documented: .documented
        case .device: .device(urgency, takesCaches: takesCaches)
        }
    }

    /// Returns how many of these bytes a purge of this urgency takes.
    public func bytes(of files: PurgeableBytes, _ urgency: Urgency, takesCaches: Bool) -> ByteCount {
        switch self {
        case .documented: files.all
        case .device: files.bytes { $0.isTakenOnDevice(urgency, takesCaches: takesCaches) }
        }
    }
}

extension PurgeClass {
    /// Returns whether profile `device` takes files of this class.
    fileprivate func isTakenOnDevice(_ urgency: Urgency, takesCaches: Bool) -> Bool {
        switch self {
        case .temporary: takesCaches && urgency == .high
        case .caches: takesCaches
        case .low: true
        case .medium: urgency >= .medium
        case .high: urgency == .high
        }
    }
}
