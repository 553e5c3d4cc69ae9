import PurgeSystem

/// Lines for a terminal, drawn over its current content.
struct LiveFrame {
    let lines: [String]
    let size: TerminalSize

    /// Begins at the upper left corner and erases only what the lines do not cover, so that nothing flickers. Lines are
    /// not wrapped and nothing scrolls: what does not fit is left out.
    var text: String {
        let rows = lines.prefix(size.rows).map { line in
            // At the right edge, erasing would remove the last character.
            line.count < size.columns ? line + "\u{1B}[K" : String(line.prefix(size.columns))
        }
        let rest = rows.count < size.rows ? "\r\n\u{1B}[J" : ""
        return "\u{1B}[?7l\u{1B}[H" + rows.joined(separator: "\r\n") + rest + "\u{1B}[?7h"
    }
}
