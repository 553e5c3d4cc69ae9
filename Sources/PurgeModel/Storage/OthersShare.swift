/// The share of a shortfall that others.purgeable gives before files are purged (docs/RULES.md, Order of purging).
public struct OthersShare: Hashable, Sendable {
    /// The percentage, from 0 to 100.
    public var percent: Int
    /// The part of the shortfall that earlier steps of the same purge left to files after others had given their share.
    public var leftToFiles: ByteCount

    public static let most = 100

    public init(percent: Int = most, leftToFiles: ByteCount = .zero) {
        (self.percent, self.leftToFiles) = (percent, leftToFiles)
    }

    /// Parses a whole number up to `most`, with or without `%`; returns nil for anything else.
    public static func percent(text: some StringProtocol) -> Int? {
        let digits = text.last == "%" ? text.dropLast() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let percent = Int(digits), percent <= most
        else { return nil }
        return percent
    }

    /// Returns the part of a shortfall that others give, in whole blocks.
    func part(of short: ByteCount) -> ByteCount {
        let (hundreds, rest) = max(.zero, short - leftToFiles).bytes.quotientAndRemainder(dividingBy: 100)
        return ByteCount(hundreds * Int64(percent) + (rest * Int64(percent) + 99) / 100).roundedUp
    }
}
