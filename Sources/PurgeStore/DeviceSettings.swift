import PurgeModel

/// Which rules of purging are in force (docs/RULES.md, Where the rules come from).
public enum Profile: String, Codable, Sendable {
    case documented
}

/// What device.json holds: the settings and state of the simulated device.
public struct DeviceSettings: Codable, Hashable, Sendable {
    /// Of the file's format.
    public var version = 1
    public var profile = Profile.documented
    public var total = ByteCount(64 << 30)
    public var others = ByteCount.zero
    public var othersPurgeable = ByteCount.zero
    public var thresholds = ThresholdSettings.documented
    /// Of new files whose directory has none.
    public var protection = FileProtection.completeUntilFirstUserAuthentication
    /// UUID of the simulated app container.
    public var containerID: String
    public var boots: Int64 = 1
    public var counters = StatusReport.Counters()

    public init(containerID: String) { self.containerID = containerID }
}

/// Settings given on the command line; nil leaves what the store has.
public struct SettingsChange: Hashable, Sendable {
    public var profile: Profile?
    public var total: ByteCount?
    public var others: ByteCount?
    public var othersPurgeable: ByteCount?
    public var protection: FileProtection?
    public init() {}
}
