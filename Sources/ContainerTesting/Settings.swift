extension Container {
    /// The settings of a container's device, and further options. A setting that is nil has the default of `purgefs run`.
    public struct Settings: Hashable, Sendable {
        /// The size of the device.
        public var total: Size?
        /// The bytes that the system and other apps use.
        public var others: Size?
        /// The part of `others` that can be purged.
        public var othersPurgeable: Size?
        public var profile: Profile?
        /// The latency of the background purge in profile `device`, in real time.
        public var purgeLatency: Span?
        /// The protection class of files that have none of their own.
        public var protection: ProtectionClass?
        public var thresholds: Thresholds?
        /// Further options of `purgefs run`, one word each: `["--store", "/var/tmp/kept"]`.
        public var options: [String]

        public init(
            total: Size? = nil, others: Size? = nil, othersPurgeable: Size? = nil, profile: Profile? = nil,
            purgeLatency: Span? = nil, protection: ProtectionClass? = nil, thresholds: Thresholds? = nil,
            options: [String] = []
        ) {
            self.total = total
            self.others = others
            self.othersPurgeable = othersPurgeable
            self.profile = profile
            self.purgeLatency = purgeLatency
            self.protection = protection
            self.thresholds = thresholds
            self.options = options
        }

        /// Returns these settings, each replaced by the one in `nearer` unless that is nil. The options of both are joined,
        /// those of `nearer` last.
        public func overridden(by nearer: Settings) -> Settings {
            Settings(
                total: nearer.total ?? total, others: nearer.others ?? others,
                othersPurgeable: nearer.othersPurgeable ?? othersPurgeable, profile: nearer.profile ?? profile,
                purgeLatency: nearer.purgeLatency ?? purgeLatency, protection: nearer.protection ?? protection,
                thresholds: nearer.thresholds ?? thresholds, options: options + nearer.options)
        }

        /// The arguments for `purgefs run`. Thresholds are missing, because `run` has no option for them.
        var words: [String] {
            let values: [(String, String?)] = [
                ("--total", total?.description), ("--others", others?.description),
                ("--others-purgeable", othersPurgeable?.description), ("--profile", profile?.rawValue),
                ("--purge-latency", purgeLatency?.description), ("--protection", protection?.rawValue),
            ]
            return values.flatMap { name, value in value.map { [name, $0] } ?? [] } + options
        }
    }
}
