/// A time of a file, as timespec: seconds since 1970 (UTC), before or after, and 0 to 999,999,999 nanoseconds. Unlike an
/// `Instant`, it can have any value that utimensat(2) accepts.
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

    /// So many seconds earlier, or later if they are negative; a time at the end of the range stays there.
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

// Text: `SECONDS.NANOSECONDS`, always with nine digits after the point.
extension FileTime {
    public var text: String {
        let digits = String(nanoseconds)
        return "\(seconds)." + String(repeating: "0", count: max(0, 9 - digits.utf8.count)) + digits
    }

    /// nil for anything that `text` cannot have made.
    public init?(text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let seconds = Int64(parts[0]), let nanoseconds = Int64(parts[1]),
            (0..<Self.second).contains(nanoseconds)
        else { return nil }
        self.init(seconds: seconds, nanoseconds: nanoseconds)
        guard self.text == text else { return nil }
    }
}
