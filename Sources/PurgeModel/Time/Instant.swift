/// A moment, in nanoseconds since 1970 (UTC). The model never reads a clock: callers pass moments in.
public struct Instant: Hashable, Comparable, Sendable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
    /// Saturates for moments more than 292 years from 1970, which utimensat(2) accepts.
    public init(seconds: Int64, nanoseconds: Int64) {
        let (whole, tooFar) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflow) = whole.addingReportingOverflow(nanoseconds)
        self.nanoseconds = tooFar || overflow ? (seconds < 0 ? .min : .max) : sum
    }

    public static let distantPast = Instant(nanoseconds: .min)

    /// Returns the moment `span` later, at most the end of the range.
    public func advanced(by span: TimeSpan) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(
            Instant(seconds: span.seconds, nanoseconds: 0).nanoseconds)
        return Instant(nanoseconds: overflow ? .max : sum)
    }

    public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }
}

extension Instant {
    /// ISO 8601 in UTC with milliseconds: `2026-11-21T09:30:00.123Z`.
    public var iso8601: String {
        let seconds = nanoseconds.flooredQuotient(by: 1_000_000_000)
        let rest = nanoseconds % 1_000_000_000
        let milliseconds = (rest < 0 ? rest + 1_000_000_000 : rest) / 1_000_000
        let days = seconds.flooredQuotient(by: 86400)
        let second = seconds - days * 86400
        let (year, month, day) = Self.civil(days: days)
        // Each event has two of these strings, so the digits are written one by one, which is faster. Every Instant has a year
        // of four digits.
        return String(unsafeUninitializedCapacity: 24) { text in
            var end = 0
            func append(_ value: Int64, _ width: Int, _ mark: UInt8) {
                var rest = value
                for place in stride(from: end + width - 1, through: end, by: -1) {
                    text[place] = 0x30 + UInt8(rest % 10)
                    rest /= 10
                }
                text[end + width] = mark
                end += width + 1
            }
            append(year, 4, 0x2D)
            append(month, 2, 0x2D)
            append(day, 2, 0x54)
            append(second / 3600, 2, 0x3A)
            append(second / 60 % 60, 2, 0x3A)
            append(second % 60, 2, 0x2E)
            append(milliseconds, 3, 0x5A)
            return end
        }
    }

    /// Returns the Gregorian date of a day number since 1970, by counting years from 1 March.
    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted.flooredQuotient(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}

extension Int64 {
    fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
        self % divisor < 0 ? self / divisor - 1 : self / divisor
    }
}
