/// The content of device.json.
extension Device: Codable {
    /// The version of the file's format.
    public static let version = 1

    private enum Member: String, CodingKey, CaseIterable {
        case version, profile, total, others, othersPurgeable, thresholds, protection, containerID, boots, counters
        // Omitted while they have a new device's value.
        case clock, unfinished, othersShare, purgeLatency, agedDay, offloaded, lastForeground
        case history = "clockAdvances"
    }

    /// The member names that the file may have.
    public static let members = Set(Member.allCases.map(\.rawValue) + DeviceLock.members + JournalBounds.members)

    public init(from decoder: any Decoder) throws {
        let file = try decoder.container(keyedBy: Member.self)
        guard try file.decode(Int.self, forKey: .version) == Self.version else {
            throw DecodingError.dataCorruptedError(
                forKey: .version, in: file, debugDescription: "a format that is not known")
        }
        self.init(containerID: try file.decode(String.self, forKey: .containerID))
        profile = try file.decode(Profile.self, forKey: .profile)
        total = try file.decode(ByteCount.self, forKey: .total)
        others = try file.decode(ByteCount.self, forKey: .others)
        othersPurgeable = try file.decode(ByteCount.self, forKey: .othersPurgeable)
        thresholds = try file.decode(ThresholdSettings.self, forKey: .thresholds)
        protection = try file.decode(FileProtection.self, forKey: .protection)
        boots = try file.decode(Int64.self, forKey: .boots)
        counters = try file.decode(Counters.self, forKey: .counters)
        lock = try DeviceLock(from: decoder)
        clock = try file.decodeIfPresent(Int64.self, forKey: .clock) ?? 0
        unfinished = try file.decodeIfPresent(DeviceWork.self, forKey: .unfinished)
        othersShare = try file.decodeIfPresent(Int.self, forKey: .othersShare) ?? OthersShare.most
        history = try file.decodeIfPresent(ClockHistory.self, forKey: .history) ?? ClockHistory()
        purgeLatency =
            try file.decodeIfPresent(Int64.self, forKey: .purgeLatency).map { TimeSpan(seconds: $0) }
            ?? .usualPurgeLatency
        if try file.decodeIfPresent(Bool.self, forKey: .offloaded) ?? false { app = .offloaded }
        use = AppUse(nanoseconds: try file.decodeIfPresent(Int64.self, forKey: .lastForeground))
        journal = try JournalBounds(from: decoder)
        ageing = TemporaryAgeing(
            isOn: profile.agesTemporary, day: try file.decodeIfPresent(Int64.self, forKey: .agedDay))
        resolveLimits()
    }

    public func encode(to encoder: any Encoder) throws {
        var file = encoder.container(keyedBy: Member.self)
        try file.encode(Self.version, forKey: .version)
        try file.encode(profile, forKey: .profile)
        try file.encode(total, forKey: .total)
        try file.encode(others, forKey: .others)
        try file.encode(othersPurgeable, forKey: .othersPurgeable)
        try file.encode(thresholds, forKey: .thresholds)
        try file.encode(protection, forKey: .protection)
        try file.encode(containerID, forKey: .containerID)
        try file.encode(boots, forKey: .boots)
        try file.encode(counters, forKey: .counters)
        try lock.encode(to: encoder)
        if clock != 0 { try file.encode(clock, forKey: .clock) }
        try file.encodeIfPresent(unfinished, forKey: .unfinished)
        if othersShare != OthersShare.most { try file.encode(othersShare, forKey: .othersShare) }
        if !history.isEmpty { try file.encode(history, forKey: .history) }
        if purgeLatency != .usualPurgeLatency { try file.encode(purgeLatency.seconds, forKey: .purgeLatency) }
        if app == .offloaded { try file.encode(true, forKey: .offloaded) }
        try file.encodeIfPresent(use.lastForeground?.nanoseconds, forKey: .lastForeground)
        try journal.encode(to: encoder)
        try file.encodeIfPresent(ageing.day, forKey: .agedDay)
    }
}
