/// Escaped text for an HTML page; every initializer escapes. The text cannot begin an element, an attribute or an entity, hide
/// itself, or reorder its surroundings.
struct HTMLText: Hashable, Sendable {
    /// The text as it appears in the page.
    let escaped: String

    /// Escapes text, and replaces the middle of text of more than `limit` Unicode scalars by an ellipsis. Apps can choose long
    /// names, and a page shows many.
    init(_ text: String, limit: Int = 160) {
        var escaped = ""
        var marks = 0
        for scalar in Self.shortened(text, to: limit) {
            marks = Self.combines(scalar) ? marks + 1 : 0
            // Stacked accents would overlap the neighbouring lines.
            escaped += marks > 3 || Self.hides(scalar) ? Self.code(scalar) : Self.escape(scalar)
        }
        self.escaped = escaped
    }

    /// Keeps more of the end, because the end of a path says more than its beginning.
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

    /// Returns the form in which messages show control characters (`VisibleText`).
    private static func code(_ scalar: Unicode.Scalar) -> String { "\\u{\(String(scalar.value, radix: 16))}" }

    private static func combines(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Returns true for invisible characters: controls including the ones for writing direction, line separators, unassigned
    /// code points, and other characters that are ignored by default. Joiners and variation selectors are part of a name and
    /// stay.
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
    /// Escapes interpolated values together with the literal around them.
    init(stringLiteral value: String) { self.init(value, limit: .max) }
}
