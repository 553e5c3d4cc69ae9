extension JSONValue {
    /// On one line, or indented by two spaces for each level.
    func text(pretty: Bool = false) -> String {
        var text = ""
        write(to: &text, indent: pretty ? 0 : nil)
        return text
    }

    private func write(to text: inout String, indent: Int?) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += value.isFinite ? String(value) : "null"
        case .string(let value): Self.quote(value, to: &text)
        case .array(let values):
            Self.list(values, "[", "]", to: &text, indent: indent) { value, text, indent in
                value.write(to: &text, indent: indent)
            }
        case .object(let members):
            Self.list(members, "{", "}", to: &text, indent: indent) { member, text, indent in
                Self.quote(member.name, to: &text)
                text += indent == nil ? ":" : ": "
                member.value.write(to: &text, indent: indent)
            }
        }
    }

    private static func list<Item>(
        _ items: [Item], _ opening: String, _ closing: String, to text: inout String, indent: Int?,
        each: (Item, inout String, Int?) -> Void
    ) {
        text += opening
        let inner = indent.map { $0 + 1 }
        for (index, item) in items.enumerated() {
            if index > 0 { text += "," }
            breakLine(&text, inner)
            each(item, &text, inner)
        }
        if !items.isEmpty { breakLine(&text, indent) }
        text += closing
    }

    private static func breakLine(_ text: inout String, _ indent: Int?) {
        if let indent { text += "\n" + String(repeating: "  ", count: indent) }
    }

    /// Quoted. Escaped is what RFC 8259 requires, and what controls a terminal, or ends a line for some readers of JSON
    /// lines; a slash stays a slash.
    private static func quote(_ string: String, to text: inout String) {
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
