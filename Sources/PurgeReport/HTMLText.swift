/// Text for a page of HTML, which can only be made by escaping: nothing in it can begin an element, an attribute or an
/// entity, hide, or change the order of what is beside it.
struct HTMLText: Hashable, Sendable {
    /// As it stands in the page.
    let escaped: String

    /// Names that an app has chosen can be long, and a page has many: what is longer than `limit` loses its middle.
    init(_ text: String, limit: Int = 160) {
        var escaped = ""
        var marks = 0
        for scalar in Self.shortened(text, to: limit) {
            marks = Self.combines(scalar) ? marks + 1 : 0
            // A pile of accents would reach into the lines above and below.
            escaped += marks > 3 || Self.hides(scalar) ? Self.code(scalar) : Self.escape(scalar)
        }
        self.escaped = escaped
    }

    /// The end of a path says more than its beginning.
    private static func shortened(_ text: String, to limit: Int) -> [Unicode.Scalar] {
        let scalars = Array(text.unicodeScalars)
        guard scalars.count > limit else { return scalars }
        let head = limit / 3
        return scalars.prefix(head) + ["\u{2026}"] + scalars.suffix(limit - head - 1)
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\"": "&quot;"
        case "'": "&#39;"
        default: String(scalar)
        }
    }

    /// As messages show control characters (`VisibleText`).
    private static func code(_ scalar: Unicode.Scalar) -> String { "\\u{\(String(scalar.value, radix: 16))}" }

    private static func combines(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Whether it would not be seen: controls, among them those of the direction of writing, separators of lines, and
    /// what is not a character. Those that join letters and emoji, and that vary their form, are part of a name.
    private static func hides(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x200C, 0x200D, 0xFE00...0xFE0F: return false
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: return true
        default: return scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}

extension HTMLText: ExpressibleByStringInterpolation {
    /// What is interpolated is escaped too.
    init(stringLiteral value: String) { self.init(value, limit: .max) }
}
