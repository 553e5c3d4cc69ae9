import PurgeModel

/// Messages about strings that are not sizes.
package enum SizeText {
    package static let forms = "4096, 64K, 1.5G or 64MiB in powers of 1024; 64GB in powers of 1000"

    /// Returns why the text is not a size; nil if it is one.
    package static func objection(to text: String) -> String? {
        switch ByteCount.reading(text) {
        case .success: nil
        case .failure(.notWhole): "'\(text)' is not a whole number of bytes; use a smaller unit"
        case .failure(.tooLarge): "'\(text)' is more than 1 EiB, the largest size"
        case .failure(.malformed):
            "'\(text)' is not a size" + (meant(text).map { "; did you mean '\($0)'?" } ?? " (\(forms))")
        }
    }

    /// Returns why the size is too small for a device; nil if it is not, or if the text is not a size.
    package static func objection(toDevice text: String) -> String? {
        guard let size = ByteCount(text: text), size < mebibyte else { return nil }
        return "the smallest device is 1 MiB" + (lacksUnit(text) ? "; did you mean \(text)M?" : "")
    }

    /// Returns a message if the text probably lacks its unit; otherwise nil. This is for options whose size nobody gives in
    /// bytes.
    package static func objection(toBare text: String) -> String? {
        lacksUnit(text) ? "'\(text)' has no unit, and would be bytes; write \(text)M for MiB, or \(text)K for KiB" : nil
    }

    /// Whether the text is a bare number below 1 MiB, and so probably lacks its unit.
    private static func lacksUnit(_ text: String) -> Bool {
        guard let size = ByteCount(text: text), size > .zero, size < mebibyte else { return false }
        return text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
    private static let mebibyte = ByteCount(1 << 20)

    /// Returns the size that was probably intended, such as `64MB` for `64 mb`; nil if there is none.
    private static func meant(_ text: String) -> String? {
        // A comma before three digits may separate thousands or decimals.
        if let comma = text.firstIndex(of: ","), text[text.index(after: comma)...].prefix(while: \.isNumber).count == 3
        {
            return nil
        }
        let plain = text.filter { !$0.isWhitespace }.uppercased().map { $0 == "," ? "." : String($0) }.joined()
        let candidate = plain.hasSuffix("IB") ? plain.dropLast(2) + "iB" : plain
        return ByteCount(text: candidate) == nil ? nil : candidate
    }
}
