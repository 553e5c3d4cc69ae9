import Glibc

/// Bars of plain text.
package struct Bar {
    let full: String
    let half: String
    package let empty: String

    package static let ascii = Bar(full: "#", half: "=", empty: ".")
    static let unicode = Bar(full: "█", half: "▒", empty: "░")

    /// Returns the characters that the terminal's locale can show.
    package static func forLocale() -> Bar { localeHasUnicode ? unicode : ascii }

    /// Whether the locale uses UTF-8.
    package static var localeHasUnicode: Bool {
        for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
            guard let value = getenv(name).map({ String(cString: $0).lowercased() }), !value.isEmpty else { continue }
            return value.contains("utf-8") || value.contains("utf8")
        }
        return false
    }

    /// Returns a bar of `part` and then `second`, out of `whole`. A part above zero gets a character or more, if there is room.
    package func text(_ part: Int64, then second: Int64 = 0, of whole: Int64, width: Int = 40) -> String {
        let first = cells(part, of: whole, width: width)
        let next = min(cells(second, of: whole, width: width), width - first)
        return String(repeating: full, count: first) + String(repeating: half, count: next)
            + String(repeating: empty, count: width - first - next)
    }

    private func cells(_ part: Int64, of whole: Int64, width: Int) -> Int {
        guard part > 0, whole > 0 else { return 0 }
        guard part < whole else { return width }
        return min(width, max(1, Int((Double(part) / Double(whole) * Double(width)).rounded())))
    }
}
