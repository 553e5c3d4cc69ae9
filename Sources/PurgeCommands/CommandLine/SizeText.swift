import PurgeModel

/// Messages about a text that should have been a size.
enum SizeText {
    static let forms = "4096, 64K, 1.5G or 64MiB in powers of 1024; 64GB in powers of 1000"

    /// nil if it is a size.
    static func objection(to text: String) -> String? {
        switch ByteCount.reading(text) {
        case .success: nil
        case .failure(.notWhole): "'\(text)' is not a whole number of bytes; use a smaller unit"
        case .failure(.tooLarge): "'\(text)' is more than 1 EiB, the largest size"
        case .failure(.malformed):
            "'\(text)' is not a size" + (meant(text).map { "; did you mean '\($0)'?" } ?? " (\(forms))")
        }
    }

    /// For the size of a device: a size of a few bytes is a forgotten unit. nil if it is large enough.
    static func objection(toDevice text: String) -> String? {
        guard let size = ByteCount(text: text), size < smallestDevice else { return nil }
        let isBare = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return "the smallest device is 1 MiB" + (isBare && size > .zero ? "; did you mean \(text)M?" : "")
    }
    private static let smallestDevice = ByteCount(1 << 20)

    /// `64M` for `64 mb` and the like.
    private static func meant(_ text: String) -> String? {
        let plain = text.filter { $0 != " " }.uppercased().map { $0 == "," ? "." : String($0) }.joined()
        let candidate = plain.hasSuffix("IB") ? plain.dropLast(2) + "iB" : plain
        return ByteCount(text: candidate) == nil ? nil : candidate
    }
}
