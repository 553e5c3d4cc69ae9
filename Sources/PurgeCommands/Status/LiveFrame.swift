import PurgeSystem

/// Lines for a terminal, drawn over its current content.
struct LiveFrame {
    let lines: [LiveLine]
    let size: TerminalSize
    let isColoured: Bool

    /// The output for the terminal. It begins at the upper left corner and erases only the parts that the lines do not cover,
    /// so that nothing flickers. Lines are cut instead of wrapped or scrolled.
    var text: String {
        let rows = lines.prefix(size.rows).map { line in
            let shown = line.cut(to: size.columns)
            // At the right edge, erasing would remove the last character.
            return (isColoured ? shown.coloured : shown.text) + (shown.text.count < size.columns ? "\u{1B}[K" : "")
        }
        let rest = rows.count < size.rows ? "\r\n\u{1B}[J" : ""
        return "\u{1B}[?7l\u{1B}[H" + rows.joined(separator: "\r\n") + rest + "\u{1B}[?7h"
    }
}

/// A line of a frame. Its text has no escape sequences.
struct LiveLine {
    /// A colour that is legible on light and on dark terminals.
    enum Colour: Int {
        case red = 31
        case green = 32
        case yellow = 33
        case blue = 34
        case magenta = 35
        case cyan = 36
        case grey = 90
    }

    private(set) var text: String
    /// The coloured parts, as character offsets in order; they do not overlap.
    var colours: [(range: Range<Int>, colour: Colour)] = []

    init(_ text: String) { self.text = text }

    func cut(to width: Int) -> LiveLine {
        var line = self
        if text.count > width { line.text = String(text.prefix(width)) }
        return line
    }

    /// The text with its colours as escape sequences.
    fileprivate var coloured: String {
        let characters = Array(text)
        var (result, done) = ("", 0)
        for (range, colour) in colours {
            let range = range.clamped(to: done..<max(done, characters.count))
            if range.isEmpty { continue }
            result += String(characters[done..<range.lowerBound])
            result += "\u{1B}[\(colour.rawValue)m" + String(characters[range]) + "\u{1B}[39m"
            done = range.upperBound
        }
        return result + String(characters[done...])
    }
}
