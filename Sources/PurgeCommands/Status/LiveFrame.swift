import PurgeSystem

/// Lines for a terminal, drawn over its current content.
struct LiveFrame {
    let lines: [String]
    let size: TerminalSize

    /// The output for the terminal. It begins at the upper left corner and erases only the parts that the lines do not cover,
    /// so that nothing flickers. Lines are cut instead of wrapped or scrolled.
    var text: String {
        let rows = lines.prefix(size.rows).map { line in
            // At the right edge, erasing would remove the last character.
            line.count < size.columns ? line + "\u{1B}[K" : String(line.prefix(size.columns))
        }
        let rest = rows.count < size.rows ? "\r\n\u{1B}[J" : ""
        return "\u{1B}[?7l\u{1B}[H" + rows.joined(separator: "\r\n") + rest + "\u{1B}[?7h"
    }
}
