extension Instant {
    /// Parses a date, or a date and a time: `2026-11-21`, `2026-11-21T09:30`, `2026-11-21 09:30:00.5Z`,
    /// `2026-11-21T09:30+02:00`. Without an offset the time is UTC. Returns nil for anything else, and for a date that does
    /// not exist.
    public init?(iso8601 text: some StringProtocol) {
        var text = Cursor(rest: Array(text.utf8)[...])
        guard let year = text.number(4), text.take("-"), let month = text.number(2), text.take("-"),
            let day = text.number(2), let days = Self.days(year, month, day)
        else { return nil }
        var (seconds, nanoseconds) = (days * 86400, Int64.zero)
        if text.take("T") || text.take(" ") {
            guard let hour = text.number(2), hour < 24, text.take(":"), let minute = text.number(2), minute < 60 else {
                return nil
            }
            seconds += hour * 3600 + minute * 60
            if text.take(":") {
                guard let second = text.number(2), second < 60 else { return nil }
                seconds += second
                if text.take(".") {
                    guard let fraction = text.fraction() else { return nil }
                    nanoseconds = fraction
                }
            }
            guard let offset = text.offset() else { return nil }
            seconds -= offset
        }
        guard text.rest.isEmpty else { return nil }
        self.init(seconds: seconds, nanoseconds: nanoseconds)
    }

    /// Returns the number of days since 1970, or nil if the date does not exist.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64? {
        guard (1...12).contains(month), (1...length(of: month, year)).contains(day) else { return nil }
        // Years are counted from 1 March, so that a leap day is the last day of its year.
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return shifted * 365 + shifted.quotient(4) - shifted.quotient(100) + shifted.quotient(400) + dayOfYear - 719_468
    }

    private static func length(of month: Int64, _ year: Int64) -> Int64 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }
}

extension Int64 {
    /// Returns the quotient rounded down.
    fileprivate func quotient(_ divisor: Int64) -> Int64 { (self - (self % divisor + divisor) % divisor) / divisor }
}

/// The rest of a string that is being parsed.
private struct Cursor {
    var rest: ArraySlice<UInt8>

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// Reads exactly `count` digits.
    mutating func number(_ count: Int) -> Int64? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int64($1 & 0xF) }
    }

    /// Reads one to nine digits as a fraction of a second, in nanoseconds.
    mutating func fraction() -> Int64? {
        let digits = rest.prefix(while: Self.isDigit)
        guard (1...9).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        let value = digits.reduce(0) { $0 * 10 + Int64($1 & 0xF) }
        return (digits.count..<9).reduce(value) { value, _ in value * 10 }
    }

    /// Reads an offset such as `Z`, `+02:00`, `-0930` or nothing. Returns seconds east of UTC.
    mutating func offset() -> Int64? {
        if rest.isEmpty || take("Z") { return 0 }
        let isEast = take("+")
        guard isEast || take("-"), let hours = number(2), hours < 24 else { return nil }
        _ = take(":")
        guard let minutes = number(2), minutes < 60 else { return nil }
        return (isEast ? 1 : -1) * (hours * 3600 + minutes * 60)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
