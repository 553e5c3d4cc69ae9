import PurgeModel

/// Messages about strings that are not durations.
package enum DurationText {
    /// Returns why the text is not a valid delay, or nil if it is. 0 is valid.
    package static func objection(toDelay text: String) -> String? {
        if TimeSpan(purgeLatency: text) != nil { return nil }
        return text.first == "-" ? "'\(text)' is less than 0" : objection(to: text, unit: "s")
    }

    /// Returns why the text is not a duration of at least a second, in words that suit an advance of the clock, or nil if it is
    /// one. `unit` is the likely unit of a bare number.
    package static func objection(to text: String, unit usual: Character = "d") -> String? {
        if let span = TimeSpan(text: text) {
            return span.seconds > 0 ? nil : "'\(text)': the clock is advanced by at least a second"
        }
        if text.first == "-" { return "'\(text)': the clock only moves forward" }
        let plain = text.filter { $0 != " " }.lowercased()
        let digits = plain.prefix { $0.isASCII && $0.isNumber }
        let unit = plain.dropFirst(digits.count)
        if let days = longUnit(text.last == "M" ? "month" : unit), let count = Int64(digits), count <= 100 {
            return "'\(text)' is not a duration: months and years have different lengths; write days: \(count * days)d"
        }
        if !digits.isEmpty, unit.isEmpty || units.keys.contains(String(unit.prefix(1))), unit.allSatisfy(\.isLetter) {
            let meant = "\(digits)\(unit.first ?? usual)"
            guard TimeSpan(text: meant) != nil else { return "'\(text)' is more than 4294967296 seconds (136 years)" }
            let isMistyped = unit.isEmpty || units.values.contains { $0.hasPrefix(unit) || $0 + "s" == unit }
            if isMistyped { return "'\(text)' is not a duration; did you mean '\(meant)'?" }
        }
        return "'\(text)' is not a duration (whole seconds, minutes, hours, days or weeks: 30s, 5m, 2h, 3d, 1w)"
    }

    /// Returns the approximate number of days in a month or a year; nil for any other unit.
    private static func longUnit(_ unit: some StringProtocol) -> Int64? {
        switch unit {
        case "mo", "mon", "month", "months": 30
        case "y", "yr", "year", "years": 365
        default: nil
        }
    }

    private static let units = ["s": "second", "m": "minute", "h": "hour", "d": "day", "w": "week"]

    /// Returns a number of seconds in whole units, such as `3d 10s`.
    package static func inWords(seconds: Int64) -> String {
        var rest = seconds
        let parts = [(604_800, "w"), (86400, "d"), (3600, "h"), (60, "m"), (1, "s")] as [(Int64, String)]
        let words = parts.compactMap { size, unit -> String? in
            defer { rest %= size }
            return rest / size > 0 ? "\(rest / size)\(unit)" : nil
        }
        return words.isEmpty ? "0s" : words.joined(separator: " ")
    }
}
