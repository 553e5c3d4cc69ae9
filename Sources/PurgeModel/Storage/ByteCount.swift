/// A number of bytes. Numbers from callers and stores can have any value, so sums and conversions saturate instead of
/// overflowing.
public struct ByteCount: Hashable, Comparable, Sendable {
    public var bytes: Int64

    public init(_ bytes: Int64) { self.bytes = bytes }
    public init(blocks: Int64) {
        let (product, overflow) = blocks.multipliedReportingOverflow(by: Self.block.bytes)
        bytes = overflow ? (blocks < 0 ? .min : .max) : product
    }

    public static let zero = ByteCount(0)
    /// The unit of charging, 4 KiB (docs/RULES.md, Charged bytes).
    public static let block = ByteCount(4096)
    /// The largest size of a file: 2^32 - 1 blocks, as on ext4 with blocks of this size.
    public static let largestFile = ByteCount(blocks: (1 << 32) - 1)

    /// The largest size that a setting or a command may have, 1 EiB. Sums of a few such sizes stay in range.
    public static let largestSetting = ByteCount(1 << 60)

    /// The number of whole blocks, rounded down.
    public var wholeBlocks: Int64 { bytes / Self.block.bytes }
    /// The number of blocks, rounded up.
    public var blocks: Int64 { bytes / Self.block.bytes + (bytes % Self.block.bytes > 0 ? 1 : 0) }
    public var roundedDown: ByteCount { ByteCount(blocks: wholeBlocks) }
    /// The size rounded up to a block; sizes within a block of Int64.max are rounded down.
    public var roundedUp: ByteCount {
        bytes > Int64.max - Self.block.bytes ? roundedDown : ByteCount(blocks: blocks)
    }

    public static func < (a: ByteCount, b: ByteCount) -> Bool { a.bytes < b.bytes }
    public static func + (a: ByteCount, b: ByteCount) -> ByteCount {
        let (sum, overflow) = a.bytes.addingReportingOverflow(b.bytes)
        return ByteCount(overflow ? (a.bytes < 0 ? .min : .max) : sum)
    }
    public static func - (a: ByteCount, b: ByteCount) -> ByteCount {
        let (difference, overflow) = a.bytes.subtractingReportingOverflow(b.bytes)
        return ByteCount(overflow ? (a.bytes < 0 ? .min : .max) : difference)
    }
    public static func += (a: inout ByteCount, b: ByteCount) { a = a + b }
    public static func -= (a: inout ByteCount, b: ByteCount) { a = a - b }
}

extension ByteCount: Codable {
    public init(from decoder: any Decoder) throws { bytes = try decoder.singleValueContainer().decode(Int64.self) }
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes)
    }
}

extension ByteCount {
    /// Parses `4096`, `64K`, `1.5G`, `2T`, `64KiB` or `64GiB` (powers of 1024), and `64KB` or `64GB` (powers of 1000). Returns
    /// nil for anything else, including a sign, a fraction of a byte, and more than `largestSetting` (docs/RULES.md, Words).
    public init?(text: some StringProtocol) {
        guard case .success(let size) = Self.reading(text) else { return nil }
        self = size
    }

    /// Why a string is not a size.
    public enum Fault: Error, Hashable, Sendable {
        case malformed
        /// A fraction that is not a whole number of bytes, such as `0.3K`.
        case notWhole
        /// More than `largestSetting`.
        case tooLarge
    }

    /// Parses the same sizes as `init(text:)`, but returns the reason if the text is not a size.
    public static func reading(_ text: some StringProtocol) -> Result<ByteCount, Fault> {
        // Strings compare by canonical equivalence, which makes a Kelvin sign equal to `K`.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return .failure(.malformed) }
        let number = text.prefix { $0.isNumber || $0 == "." }
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, !parts.contains(where: \.isEmpty),
            let unit = units[String(text.dropFirst(number.count))]
        else { return .failure(.malformed) }
        return bytes(whole: parts[0], fraction: parts.count == 2 ? parts[1] : "", unit)
    }

    /// Returns exactly `whole`.`fraction` units; both arguments consist of digits.
    private static func bytes(
        whole: some StringProtocol, fraction: some StringProtocol, _ unit: Int64
    ) -> Result<ByteCount, Fault> {
        guard let units = Int64(whole) else { return .failure(.tooLarge) }
        let (product, overflow) = units.multipliedReportingOverflow(by: unit)
        guard !overflow, product <= largestSetting.bytes else { return .failure(.tooLarge) }
        var digits = fraction[...]
        while digits.last == "0" { digits.removeLast() }
        guard !digits.isEmpty else { return .success(ByteCount(product)) }
        // The denominator must fit in an integer, so a fraction has at most 18 digits.
        guard digits.count <= 18, let numerator = UInt64(digits) else { return .failure(.notWhole) }
        let denominator = (0..<digits.count).reduce(UInt64(1)) { power, _ in power * 10 }
        // The fraction is below 1, so the quotient is below the unit.
        let (quotient, rest) = denominator.dividingFullWidth(numerator.multipliedFullWidth(by: UInt64(unit)))
        guard rest == 0 else { return .failure(.notWhole) }
        let sum = product + Int64(quotient)
        return sum <= largestSetting.bytes ? .success(ByteCount(sum)) : .failure(.tooLarge)
    }

    private static let units: [String: Int64] = [
        "": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40,
        "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
        "KB": 1000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000,
    ]

    /// The size as it is printed: `64.0 MiB`.
    public var inWords: String {
        let names = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        let magnitude = bytes.magnitude
        guard magnitude >= 1024 else { return "\(bytes) B" }
        var unit = 0
        var tenths = magnitude > .max / 10 ? magnitude / 1024 * 10 : magnitude * 10 / 1024
        while tenths >= 10240 && unit < names.count - 1 {
            tenths /= 1024
            unit += 1
        }
        return "\(bytes < 0 ? "-" : "")\(tenths / 10).\(tenths % 10) \(names[unit])"
    }
}
