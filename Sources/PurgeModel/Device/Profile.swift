/// Which rules of purging are in force (docs/RULES.md, Profiles).
public enum Profile: String, CaseIterable, Codable, Sendable {
    /// What the documents say.
    case documented
    /// What real devices are said to do.
    case device
}

// Everything in which the profiles differ. Nothing else asks which of them is in force.
extension Profile {
    /// The thresholds of a device on which none was set.
    public var thresholds: ThresholdSettings {
        switch self {
        case .documented: .documented
        case .device: .capped
        }
    }

    /// Whether the class of a file decides how much a write may take, and a write that is short of room purges for
    /// itself. Otherwise every write takes from what is free, and none purges.
    public var writesPurge: Bool { self == .documented }

    /// What an app may take that has no need of it.
    func opportunistic(of capacity: Capacity) -> ByteCount {
        switch self {
        case .documented: return max(.zero, capacity.free - capacity.thresholds.low)
        case .device:
            let balance = capacity.balance + capacity.othersPurgeable + capacity.lowUrgencyFiles
            return min(capacity.important, max(.zero, balance - capacity.thresholds.low))
        }
    }

    /// Whether purging in the background begins only after the device's `purgeLatency`.
    public var lags: Bool { self == .device }

    /// How long that is, for a device with this latency.
    public func lag(_ latency: TimeSpan) -> TimeSpan { lags ? latency : TimeSpan(seconds: 0) }

    /// Whether files of `tmp` that nobody uses go by themselves, once a day.
    public var agesTemporary: Bool { self == .device }

    public var rebootEmptiesTemporary: Bool { self == .documented }

    /// How urgent purging in the background is at a level; nil if there is none.
    public func urgency(at level: PressureLevel) -> Urgency? {
        switch (self, level) {
        case (_, .normal), (.documented, .nearLow): nil
        case (.device, .nearLow): .low
        case (.device, .low): .medium
        case (.documented, .low), (_, .veryLow): .high
        }
    }

    /// What a purge of this urgency takes, and in which order; a command that names a place takes that place as
    /// `PurgeOrder.documented` has it.
    public func order(_ urgency: Urgency, isRunning: Bool) -> PurgeOrder {
        switch self {
        case .documented: .documented
        case .device: .device(urgency, isRunning: isRunning)
        }
    }

    /// How many of these bytes a purge of this urgency takes.
    public func bytes(of files: PurgeableBytes, _ urgency: Urgency, isRunning: Bool) -> ByteCount {
        switch self {
        case .documented: files.all
        case .device: files.bytes { $0.isTakenOnDevice(urgency, isRunning: isRunning) }
        }
    }
}

extension PurgeClass {
    /// Whether profile `device` takes such files.
    fileprivate func isTakenOnDevice(_ urgency: Urgency, isRunning: Bool) -> Bool {
        switch self {
        case .aged: true
        case .temporary: urgency == .high
        case .caches: !isRunning
        case .low: true
        case .medium: urgency >= .medium
        case .high: urgency == .high
        }
    }
}
