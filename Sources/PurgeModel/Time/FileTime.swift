/// A file's time, as in timespec: seconds before or after 1970 (UTC), and 0 to 999,999,999 nanoseconds. Unlike an `Instant`,
/// it can have any value that utimensat(2) accepts.
public struct FileTime: Hashable, Comparable, Sendable {
    public var seconds: Int64
    public var nanoseconds: Int64

    @inlinable
    public init(seconds: Int64, nanoseconds: Int64) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    @inlinable
    public static func < (a: FileTime, b: FileTime) -> Bool {
        (a.seconds, a.nanoseconds) < (b.seconds, b.nanoseconds)
    }

    /// Returns the time `span` seconds earlier, or later if `span` is negative. It saturates at the ends of the range.
    public func earlier(by span: Int64) -> FileTime {
        let (difference, overflow) = seconds.subtractingReportingOverflow(span)
        return FileTime(seconds: overflow ? (span > 0 ? .min : .max) : difference, nanoseconds: nanoseconds)
    }
}

extension FileTime {
    public init(_ instant: Instant) {
        let (seconds, rest) = instant.nanoseconds.quotientAndRemainder(dividingBy: Self.second)
        self.init(
            seconds: rest < 0 ? seconds - 1 : seconds, nanoseconds: rest < 0 ? rest + Self.second : rest)
    }

    private static let second: Int64 = 1_000_000_000
}

// The text is `SECONDS.NANOSECONDS`, with nine digits after the point.
extension FileTime {
    public var text: String {
        let digits = String(nanoseconds)
        return "\(seconds)." + String(repeating: "0", count: max(0, 9 - digits.utf8.count)) + digits
    }

    /// Parses a string; nil unless `text` could have produced it.
    public init?(text: some StringProtocol) { self.init(utf8: Array(text.utf8)) }

    /// Parses UTF-8 bytes without creating a String, because every file of a copied store has such a text.
    public init?(utf8 text: [UInt8]) {
        let point = text.count - 10
        guard point > 0, text[point] == UInt8(ascii: "."), let nanoseconds = Self.negated(text[(point + 1)...])
        else { return nil }
        let isNegative = text[0] == UInt8(ascii: "-")
        let digits = text[(isNegative ? 1 : 0)..<point]
        guard let first = digits.first, let seconds = Self.negated(digits),
            first != UInt8(ascii: "0") || (digits.count == 1 && !isNegative), isNegative || seconds > .min
        else { return nil }
        self.init(seconds: isNegative ? seconds : -seconds, nanoseconds: -nanoseconds)
    }

    /// Returns decimal digits as a negative number, because Int64 has one more negative number than positive ones.
    private static func negated(_ digits: ArraySlice<UInt8>) -> Int64? {
        var number: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            let (tenfold, isTooFar) = number.multipliedReportingOverflow(by: 10)
            let (next, isBeyond) = tenfold.subtractingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            guard !isTooFar, !isBeyond else { return nil }
            number = next
        }
        return number
    }
}
