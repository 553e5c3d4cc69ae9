/// A number of bytes.
public struct ByteCount: Hashable, Comparable, Sendable {
    public var bytes: Int64

    public init(_ bytes: Int64) { self.bytes = bytes }
    public init(blocks: Int64) { bytes = blocks * Self.block.bytes }

    public static let zero = ByteCount(0)
    /// The unit of charging: one 4 KiB block (SPEC section 1, Charged bytes).
    public static let block = ByteCount(4096)

    /// Whole blocks in this count, the rest dropped.
    public var wholeBlocks: Int64 { bytes / Self.block.bytes }
    /// Blocks that this many bytes fill or begin.
    public var blocks: Int64 { (bytes + Self.block.bytes - 1) / Self.block.bytes }
    public var roundedDown: ByteCount { ByteCount(blocks: wholeBlocks) }
    /// Rounded up to a block; a count within a block of Int64.max is rounded down.
    public var roundedUp: ByteCount {
        bytes > Int64.max - Self.block.bytes ? roundedDown : ByteCount(blocks: blocks)
    }

    public static func < (a: ByteCount, b: ByteCount) -> Bool { a.bytes < b.bytes }
    public static func + (a: ByteCount, b: ByteCount) -> ByteCount { ByteCount(a.bytes + b.bytes) }
    public static func - (a: ByteCount, b: ByteCount) -> ByteCount { ByteCount(a.bytes - b.bytes) }
    public static func += (a: inout ByteCount, b: ByteCount) { a.bytes += b.bytes }
    public static func -= (a: inout ByteCount, b: ByteCount) { a.bytes -= b.bytes }
}

extension ByteCount: Codable {
    public init(from decoder: any Decoder) throws { bytes = try decoder.singleValueContainer().decode(Int64.self) }
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes)
    }
}

extension ByteCount {
    /// Reads `4096`, `64K`, `512M`, `64G`, `2T` (powers of 1024) or `64KB`, `64GB` (powers of 1000);
    /// nil for anything else, a sign and an overflow included. SPEC section 1.
    public init?(text: some StringProtocol) {
        // Strings compare by canonical equivalence, and a Kelvin sign is equivalent to `K`.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let digits = text.prefix { $0.isNumber }
        guard let number = Int64(digits), let unit = Self.units[String(text.dropFirst(digits.count))] else {
            return nil
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit)
        // Sums of a few sizes must stay in range, so sizes end at 1 EiB.
        guard !overflow, product <= 1 << 60 else { return nil }
        bytes = product
    }

    private static let units: [String: Int64] = [
        "": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40,
        "KB": 1000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000,
    ]

    /// For people: `64.0 MiB`.
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
