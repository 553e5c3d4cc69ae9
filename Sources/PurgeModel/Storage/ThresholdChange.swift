/// One of the four thresholds, by the name that users write.
public enum ThresholdLevel: String, CaseIterable, Sendable {
    case veryLow = "verylow"
    case low
    case nearLow = "nearlow"
    case desired
}

extension Thresholds {
    public subscript(level: ThresholdLevel) -> ByteCount {
        switch level {
        case .veryLow: veryLow
        case .low: low
        case .nearLow: nearLow
        case .desired: desired
        }
    }
}

/// A parsed write to storage.thresholds (docs/CONTROL.md).
public struct ThresholdChange: Hashable, Sendable {
    /// The new threshold of each named level.
    public private(set) var settings: [ThresholdLevel: ThresholdSetting] = [:]
    /// Whether the unnamed levels return to the profile's defaults.
    public private(set) var startsOver = false

    public init(_ settings: [ThresholdLevel: ThresholdSetting]) { self.settings = settings }

    /// Parses lines of `name limit`, one line of `name=limit,name=limit`, `off` or `default`. Returns nil for anything else,
    /// and if a name occurs twice.
    public init?(text: some StringProtocol) {
        if text == "off" {
            for level in ThresholdLevel.allCases { settings[level] = .size(.zero) }
            return
        }
        if text == "default" {
            startsOver = true
            return
        }
        let isOneLine = text.contains("=")
        for item in text.split(separator: isOneLine ? "," : "\n", omittingEmptySubsequences: false) {
            let words = item.split(separator: isOneLine ? "=" : " ", omittingEmptySubsequences: !isOneLine)
            guard words.count == 2, let level = ThresholdLevel(rawValue: String(words[0])),
                let setting = ThresholdSetting(text: words[1]), settings.updateValue(setting, forKey: level) == nil
            else { return nil }
        }
    }

    /// Returns the settings after the change; unnamed levels keep their thresholds.
    public func applied(to old: ThresholdSettings) -> ThresholdSettings {
        ThresholdSettings(
            veryLow: settings[.veryLow] ?? old.veryLow, low: settings[.low] ?? old.low,
            nearLow: settings[.nearLow] ?? old.nearLow, desired: settings[.desired] ?? old.desired)
    }
}
