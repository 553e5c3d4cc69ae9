/// What a property list looks like before it is decoded. The decoder calls itself for each level, and ends the process when the
/// stack is full: so lists in XML have a limit, and other forms of text that it knows are refused. To be dropped when it has a
/// limit of its own.
enum PropertyListShape {
    /// A cleaner's list has five levels.
    private static let limit = 32
    private static let beginnings = ["<?xml", "<!DOCTYPE", "<!--", "<plist"].map { Array($0.utf8) }

    /// Its head, one object, where that is, and its end.
    private static let smallestBinary = 8 + 1 + 1 + 32

    /// For a binary list the decoder comes back to us with each level, so that it cannot be too deep.
    static func check(_ bytes: [UInt8]) throws(CleaningList.Fault) {
        // Any other file that begins like one is text to the decoder.
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
                // The end has no character in common with the beginning: `<!-->` is not a whole comment.
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

    /// What is no element, after its first character, and what ends it.
    private static let ends = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>"), ("!", ">")].map {
        (start: $0.0, end: $0.1)
    }
}

extension ArraySlice<UInt8> {
    /// What follows the first `text`; nothing if it is not there.
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
