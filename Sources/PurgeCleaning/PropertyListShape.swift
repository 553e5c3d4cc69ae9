/// Checks the shape of a property list before it is decoded. Foundation's decoder recurses for each level, and the process dies
/// when the stack overflows. So the depth of XML lists is limited, and the decoder's other text formats are refused. Remove
/// this when the decoder limits its depth.
enum PropertyListShape {
    /// The maximum depth of elements; a cleaner's list needs six, from `plist` down to the string of an entry.
    private static let limit = 32
    private static let beginnings = ["<?xml", "<!DOCTYPE", "<!--", "<plist"].map { Array($0.utf8) }

    /// The size of the smallest binary list: a header, one object, its offset, and a trailer.
    private static let smallestBinary = 8 + 1 + 1 + 32

    /// Throws if a list is too deep, or is neither XML nor binary. A binary list needs no check, because its decoder calls
    /// `PropertyListValue` at each level, which limits the depth.
    static func check(_ bytes: [UInt8]) throws(CleaningList.Fault) {
        // The decoder treats a shorter file with this beginning as text.
        if bytes.starts(with: "bplist00".utf8), bytes.count >= smallestBinary { return }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...]
        let start = text.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        guard beginnings.contains(where: { start.starts(with: $0) }), !bytes.contains(0) else {
            throw CleaningList.Fault("it is neither XML in UTF-8 nor a binary property list")
        }
        guard !isTooDeep(bytes) else { throw CleaningList.Fault("it is nested too deeply") }
    }

    private static func isTooDeep(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        var depth = 0
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[start...].dropFirst()
            if let (start, end) = ends.first(where: { rest.starts(with: $0.start.utf8) }) {
                // The end marker must not overlap the start marker: `<!-->` is not a complete comment.
                rest = rest.dropFirst(start.utf8.count).after(end)
            } else if rest.first == UInt8(ascii: "/") {
                depth = max(0, depth - 1)
            } else if let end = rest.firstIndex(of: UInt8(ascii: ">")) {
                if rest[..<end].last != UInt8(ascii: "/") { depth += 1 }
                if depth > limit { return true }
                rest = rest[end...]
            }
        }
        return false
    }

    /// Markup other than elements: the text after `<`, and the text that ends it.
    private static let ends = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>"), ("!", ">")].map {
        (start: $0.0, end: $0.1)
    }
}

extension ArraySlice<UInt8> {
    /// Returns the bytes after the first `text`; nothing if it does not occur.
    fileprivate func after(_ text: String) -> ArraySlice<UInt8> {
        let text = Array(text.utf8)
        var rest = self
        while let start = rest.firstIndex(of: text[0]) {
            rest = rest[start...]
            if rest.starts(with: text) { return rest.dropFirst(text.count) }
            rest = rest.dropFirst()
        }
        return []
    }
}
