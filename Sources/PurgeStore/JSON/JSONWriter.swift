/// Writes an Encodable as JSON with its members in the order in which they are encoded, which for a synthesized
/// `encode(to:)` is the order of declaration. Foundation's encoder offers only random or alphabetical order, and must not be
/// used in the request path.
final class JSONWriter {
    private var text = ""
    private let isPretty: Bool
    /// The open brackets: how to close each, and whether it is still empty.
    private var brackets: [(closing: String, isEmpty: Bool)] = []

    private init(pretty: Bool) { isPretty = pretty }

    /// Returns the JSON text on one line, or indented by two spaces for each level.
    static func text(of value: some Encodable, pretty: Bool) throws -> String {
        let writer = JSONWriter(pretty: pretty)
        try writer.write(value)
        return writer.text
    }

    fileprivate func write(_ value: some Encodable) throws {
        switch value {
        case let value as Bool: text += value ? "true" : "false"
        case let value as String: quote(value)
        // Each type is tested by itself, because asking the runtime for a conformance takes longer than all the rest.
        case let value as Int64: text += String(value)
        case let value as Int: text += String(value)
        case let value as Int32: text += String(value)
        case let value as Int16: text += String(value)
        case let value as Int8: text += String(value)
        case let value as UInt64: text += String(value)
        case let value as UInt: text += String(value)
        case let value as UInt32: text += String(value)
        case let value as UInt16: text += String(value)
        case let value as UInt8: text += String(value)
        case let value as Double: text += value.isFinite ? String(value) : "null"
        case let value as Float: text += value.isFinite ? String(value) : "null"
        default:
            let (depth, length) = (brackets.count, text.utf8.count)
            try value.encode(to: ValueEncoder(writer: self, depth: depth))
            // `encode(to:)` need not encode anything.
            if text.utf8.count == length { writeNull() }
            close(to: depth)
        }
    }

    fileprivate func writeNull() { text += "null" }

    /// Begins an array or object as bracket number `depth`. A value may ask for its container more than once; the elements it has
    /// already encoded stay.
    fileprivate func open(_ opening: String, _ closing: String, at depth: Int) {
        close(to: depth + 1)
        guard brackets.count == depth else { return }
        text += opening
        brackets.append((closing, true))
    }

    /// Begins an element of bracket number `depth`, or a member if there is a name.
    fileprivate func begin(_ name: String? = nil, at depth: Int) {
        close(to: depth + 1)
        if !brackets[depth].isEmpty { text += "," }
        brackets[depth].isEmpty = false
        breakLine()
        guard let name else { return }
        quote(name)
        text += isPretty ? ": " : ":"
    }

    private func close(to depth: Int) {
        while brackets.count > depth {
            let bracket = brackets.removeLast()
            if !bracket.isEmpty { breakLine() }
            text += bracket.closing
        }
    }

    private func breakLine() {
        if isPretty { text += "\n" + String(repeating: "  ", count: brackets.count) }
    }

    /// Writes a string. Besides the characters that RFC 8259 requires, it escapes control characters of terminals, and characters
    /// that some readers of JSON lines take for the end of a line. A slash is not escaped.
    private func quote(_ string: String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{00}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

/// Encodes one value, whose brackets begin at number `depth`.
private struct ValueEncoder: Encoder, SingleValueEncodingContainer {
    let writer: JSONWriter
    let depth: Int
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        writer.open("{", "}", at: depth)
        return KeyedEncodingContainer(MemberContainer(writer: writer, depth: depth))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        writer.open("[", "]", at: depth)
        return ElementContainer(writer: writer, depth: depth)
    }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }
    func encodeNil() { writer.writeNull() }
    func encode(_ value: some Encodable) throws { try writer.write(value) }
}

private struct MemberContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writer: JSONWriter
    let depth: Int
    var codingPath: [any CodingKey] { [] }

    private func member(_ name: String) -> ValueEncoder {
        writer.begin(name, at: depth)
        return ValueEncoder(writer: writer, depth: depth + 1)
    }
    func encodeNil(forKey key: Key) { member(key.stringValue).encodeNil() }
    func encode(_ value: some Encodable, forKey key: Key) throws { try member(key.stringValue).encode(value) }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { member(key.stringValue).container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        member(key.stringValue).unkeyedContainer()
    }
    func superEncoder() -> any Encoder { member("super") }
    func superEncoder(forKey key: Key) -> any Encoder { member(key.stringValue) }
}

private struct ElementContainer: UnkeyedEncodingContainer {
    let writer: JSONWriter
    let depth: Int
    private(set) var count = 0
    var codingPath: [any CodingKey] { [] }

    init(writer: JSONWriter, depth: Int) { (self.writer, self.depth) = (writer, depth) }

    private mutating func element() -> ValueEncoder {
        writer.begin(at: depth)
        count += 1
        return ValueEncoder(writer: writer, depth: depth + 1)
    }
    mutating func encodeNil() { element().encodeNil() }
    mutating func encode(_ value: some Encodable) throws { try element().encode(value) }
    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> { element().container(keyedBy: type) }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { element() }
}
