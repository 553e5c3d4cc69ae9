/// A duration in whole seconds: `30s`, `5m`, `2h`, `3d`, `1w` (docs/RULES.md, Words).
public struct TimeSpan: Hashable, Comparable, Sendable {
    public var seconds: Int64

    public init(seconds: Int64) { self.seconds = seconds }

    /// The default latency of the background purge.
    static let usualPurgeLatency = TimeSpan(seconds: 1)
    /// The longest duration that can be written, 136 years.
    public static let longest = TimeSpan(seconds: 1 << 32)
    public static func < (a: TimeSpan, b: TimeSpan) -> Bool { a.seconds < b.seconds }

    /// Parses digits and one of the five units; nil for anything else, and for more than `longest`.
    public init?(text: some StringProtocol) {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604_800]
        guard let last = text.last, let unit = units[last] else { return nil }
        let digits = text.dropLast()
        guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int64(digits) else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit)
        guard !overflow, product <= Self.longest.seconds else { return nil }
        seconds = product
    }

    /// Parses a value of storage.purge.latency or device.inactivity: a duration, or `0`.
    public init?(purgeLatency text: some StringProtocol) {
        if text == "0" { self.init(seconds: 0) } else { self.init(text: text) }
    }

    /// The shortest exact text, as a user would write it.
    public var text: String {
        for (unit, name) in [(604_800, "w"), (86400, "d"), (3600, "h"), (60, "m")] as [(Int64, String)]
        where seconds != 0 && seconds % unit == 0 {
            return "\(seconds / unit)\(name)"
        }
        return "\(seconds)s"
    }
}
