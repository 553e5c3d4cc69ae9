import PurgeModel

/// Finds texts in property lists. Both formats are read in one pass without recursion, so hostile nesting or cycles do no harm.
enum PropertyListTexts {
    /// Examines the strings and keys of an XML list in UTF-8. A list without its end is damaged, and is skipped.
    static func xml(_ content: ArraySlice<UInt8>, _ texts: inout StaleTexts) {
        var end = content
        while let last = end.last, StaleTexts.isBlank(last) { end.removeLast() }
        guard end.suffix(8).elementsEqual("</plist>".utf8), content.firstRange(of: "/Containers/") != nil else {
            return
        }
        var rest = content
        var key: String?
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[start...]
            if rest.starts(with: "<!--".utf8) {
                rest = rest.firstRange(of: "-->").map { rest[$0.upperBound...] } ?? []
            } else if let tag = ["<key>", "<string>"].first(where: { rest.starts(with: $0.utf8) }) {
                let text = rest.dropFirst(tag.utf8.count).prefix { $0 != UInt8(ascii: "<") }
                let decoded = decoded(text.prefix(ContainerPath.longest))
                if tag == "<key>" { key = String(decoding: decoded.prefix(longestKey), as: UTF8.self) }
                texts.note(decoded, in: key)
                rest = rest[text.endIndex...]
            } else {
                rest = rest.dropFirst()
            }
        }
    }

    /// The maximum number of bytes of a key that a finding names.
    private static let longestKey = 64
    private static let entities = [("amp;", "&"), ("lt;", "<"), ("gt;", ">"), ("quot;", "\""), ("apos;", "'")]
        .map { (name: Array($0.0.utf8), byte: Array($0.1.utf8)) }

    private static func decoded(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard text.contains(UInt8(ascii: "&")) else { return text }
        var (decoded, rest): ([UInt8], ArraySlice<UInt8>) = ([], text)
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "&"), let entity = entities.first(where: { rest.starts(with: $0.name) }) {
                decoded += entity.byte
                rest = rest.dropFirst(entity.name.count)
            } else {
                decoded.append(byte)
            }
        }
        return decoded[...]
    }
}

// Binary lists: a header, objects, a table of the objects' offsets, and a trailer that says where the table is.
extension PropertyListTexts {
    private static let mostObjects: UInt64 = 1_000_000
    private static let trailerSize = 32

    /// Examines the strings of a binary list. Strings are objects of their own, so the table of offsets leads to all of them.
    static func binary(_ content: [UInt8], _ texts: inout StaleTexts) {
        guard content.count >= 8 + trailerSize else { return }
        let trailer = content.count - trailerSize
        let width = Int(content[trailer + 6])
        let (count, table) = (number(content, trailer + 8, 8), number(content, trailer + 24, 8))
        guard (1...8).contains(width), count <= mostObjects, table < trailer,
            Int(count) * width <= trailer - Int(table)
        else { return }
        for index in 0..<Int(count) {
            let offset = number(content, Int(table) + index * width, width)
            guard offset < table, let text = string(content, at: Int(offset), end: Int(table)) else { continue }
            texts.note(text, in: nil)
        }
    }

    private static func number(_ content: [UInt8], _ offset: Int, _ width: Int) -> UInt64 {
        content[offset..<offset + width].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Returns the beginning of a string in UTF-8; nil for an object of another kind, and beyond the end of the objects.
    private static func string(_ content: [UInt8], at offset: Int, end: Int) -> ArraySlice<UInt8>? {
        let kind = content[offset] >> 4
        guard (5...7).contains(kind) else { return nil }
        var (count, start) = (UInt64(content[offset] & 0xF), offset + 1)
        if count == 0xF {
            // A longer count is an integer object of its own.
            guard start < end, content[start] >> 4 == 1, content[start] & 0xF <= 3 else { return nil }
            let width = 1 << Int(content[start] & 0xF)
            guard width < end - start else { return nil }
            count = number(content, start + 1, width)
            start += 1 + width
        }
        let unit = kind == 6 ? 2 : 1
        guard count <= UInt64(end - start) / UInt64(unit) else { return nil }
        let bytes = content[start..<start + min(Int(count), ContainerPath.longest) * unit]
        return unit == 1 ? bytes : utf8(bytes)
    }

    private static func utf8(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)[...]
    }
}
