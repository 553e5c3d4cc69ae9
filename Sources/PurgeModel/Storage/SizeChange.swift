/// A parsed write to a size in the control directory (docs/CONTROL.md).
public enum SizeChange: Hashable, Sendable {
    case to(ByteCount)
    case by(ByteCount)

    /// Parses a size, `+size` or `-size`.
    public init?(text: some StringProtocol) {
        switch text.first {
        case "+":
            guard let size = ByteCount(text: text.dropFirst()) else { return nil }
            self = .by(size)
        case "-":
            guard let size = ByteCount(text: text.dropFirst()) else { return nil }
            self = .by(ByteCount(-size.bytes))
        default:
            guard let size = ByteCount(text: text) else { return nil }
            self = .to(size)
        }
    }

    /// Returns the new size, or nil if a difference would make it negative or larger than `ByteCount.largestSetting`.
    public func applied(to current: ByteCount) -> ByteCount? {
        switch self {
        case .to(let size): return size
        case .by(let difference):
            let sum = current.bytes.addingReportingOverflow(difference.bytes)
            return sum.overflow || sum.partialValue < 0 || sum.partialValue > ByteCount.largestSetting.bytes
                ? nil : ByteCount(sum.partialValue)
        }
    }
}
