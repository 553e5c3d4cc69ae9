extension Container {
    /// A number of bytes, as a number or in the syntax of purgefs: `4096`, `"64K"`, `"1.5G"`, `"64MiB"` (powers of 1024),
    /// `"64GB"` (powers of 1000). See docs/RULES.md, Words.
    ///
    /// Creating a malformed size does not fail; the call that gets it throws.
    public struct Size: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral,
        ExpressibleByIntegerLiteral
    {
        /// The size as purgefs reads it.
        public let description: String

        /// Creates a size of this many bytes.
        public init(_ bytes: Int) { description = "\(bytes)" }
        /// Creates a size from a string such as `64M`.
        public init(text: String) { description = text }
        public init(integerLiteral bytes: Int) { self.init(bytes) }
        public init(stringLiteral text: String) { self.init(text: text) }

        /// Creates a size in units of 1024 bytes, like `"64K"`.
        public static func kibibytes(_ count: Int) -> Size { Size(text: "\(count)K") }
        /// Creates a size in units of 1024^2 bytes, like `"64M"`.
        public static func mebibytes(_ count: Int) -> Size { Size(text: "\(count)M") }
        /// Creates a size in units of 1024^3 bytes, like `"64G"`.
        public static func gibibytes(_ count: Int) -> Size { Size(text: "\(count)G") }

        /// Lets a size be written as a product of literals: `64 * 1024`.
        public static func * (size: Size, factor: Int) -> Size {
            let (bytes, overflow) = (size.bytes ?? .max).multipliedReportingOverflow(by: factor)
            return size.bytes == nil || overflow ? Size(text: "\(size) * \(factor)") : Size(bytes)
        }
        /// Lets a size be written as a shift of a literal: `64 << 10`.
        public static func << (size: Size, bits: Int) -> Size {
            (0..<63).contains(bits) ? size * (1 << bits) : Size(text: "\(size) << \(bits)")
        }

        @available(*, deprecated, renamed: "kibibytes", message: "these are 1024 bytes each, and no kilobytes")
        public static func kilobytes(_ count: Int) -> Size { kibibytes(count) }
        @available(*, deprecated, renamed: "mebibytes", message: "these are 1024^2 bytes each, and no megabytes")
        public static func megabytes(_ count: Int) -> Size { mebibytes(count) }
        @available(*, deprecated, renamed: "gibibytes", message: "these are 1024^3 bytes each, and no gigabytes")
        public static func gigabytes(_ count: Int) -> Size { gibibytes(count) }

        /// Compares bytes, so `"64M"`, `"65536K"` and `.mebibytes(64)` are equal. A fraction such as `"1.5G"` is equal only to
        /// the same text.
        public static func == (one: Size, other: Size) -> Bool {
            guard let bytes = one.bytes else { return one.description == other.description }
            return bytes == other.bytes
        }

        public func hash(into hasher: inout Hasher) {
            if let bytes { hasher.combine(bytes) } else { hasher.combine(description) }
        }

        /// The bytes of a whole number with or without a unit; nil for anything else, for fractions, and for more than
        /// `Int.max` bytes.
        var bytes: Int? {
            let digits = description.prefix { $0.isASCII && $0.isNumber }
            let units: [String: Int] = [
                "": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "KiB": 1 << 10, "MiB": 1 << 20,
                "GiB": 1 << 30, "TiB": 1 << 40, "KB": 1000, "MB": 1_000_000, "GB": 1_000_000_000,
                "TB": 1_000_000_000_000,
            ]
            guard let number = Int(digits), let unit = units[String(description.dropFirst(digits.count))] else {
                return nil
            }
            let (product, overflow) = number.multipliedReportingOverflow(by: unit)
            return overflow ? nil : product
        }
    }

    /// A new value for a size of the device: `"64M"` or `.to(size)`; or a difference from the current value: `"+56M"`, `"-1G"`,
    /// `.plus(size)` or `.minus(size)`.
    public struct Change: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral,
        ExpressibleByIntegerLiteral
    {
        /// The change as purgefs reads it.
        public let description: String

        public init(integerLiteral bytes: Int) { description = "\(bytes)" }
        public init(stringLiteral text: String) { description = text }
        private init(_ sign: String, _ size: Size) { description = sign + size.description }

        public static func to(_ size: Size) -> Change { Change("", size) }
        public static func plus(_ size: Size) -> Change { Change("+", size) }
        public static func minus(_ size: Size) -> Change { Change("-", size) }
    }

    /// A span of time: `"30s"`, `"5m"`, `"2h"`, `"3d"`, `"1w"`, or `.weeks(3)`. It is simulated time, except for
    /// `purgeLatency`.
    public struct Span: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
        /// The span as purgefs reads it.
        public let description: String

        public init(stringLiteral text: String) { description = text }
        private init(_ count: Int, _ unit: String) { description = "\(count)\(unit)" }

        public static func seconds(_ count: Int) -> Span { Span(count, "s") }
        public static func minutes(_ count: Int) -> Span { Span(count, "m") }
        public static func hours(_ count: Int) -> Span { Span(count, "h") }
        public static func days(_ count: Int) -> Span { Span(count, "d") }
        public static func weeks(_ count: Int) -> Span { Span(count, "w") }
    }

    /// The thresholds of free space: `.off`, or limits in ascending order, such as
    /// `"verylow=64M,low=10%,nearlow=10.5%,desired=20%"`. See docs/CONTROL.md, storage.thresholds.
    public struct Thresholds: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
        /// The thresholds as purgefs reads them.
        public let description: String

        public init(stringLiteral text: String) { description = text }

        /// No background purge, and no reserve of free space that writes to `tmp` and `Library/Caches` must leave.
        public static let off: Thresholds = "off"
    }
}
