import Glibc
import PurgeCommandLine
import PurgeSystem

/// The alternate screen of a terminal, which programs like `less` use. The main screen's content returns afterwards.
struct TerminalScreen {
    package static let enter = "\u{1B}[?1049h\u{1B}[?25l"
    private static let leave = "\u{1B}[?25h\u{1B}[?1049l"
    /// How many milliseconds to wait at the end for a terminal that accepts nothing.
    private static let patience: Int32 = 1000

    let console: Console
    private var isShown = false

    init(console: Console) { self.console = console }

    /// Draws a frame with one write. Returns false instead of blocking if the terminal accepts no output (Ctrl-S), so that the
    /// caller still sees signals.
    mutating func draw(_ frame: LiveFrame) throws(CommandFailure) -> Bool {
        guard try accepts(within: 0) else { return false }
        try console.write((isShown ? "" : Self.enter) + frame.text)
        isShown = true
        try console.flush()
        return true
    }

    mutating func leave() throws(CommandFailure) {
        guard isShown else { return }
        isShown = false
        guard try accepts(within: Self.patience) else { return }
        try console.write(Self.leave)
        try console.flush()
    }

    private func accepts(within milliseconds: Int32) throws(CommandFailure) -> Bool {
        do throws(Errno) {
            return try System.waitWritable(STDOUT_FILENO, milliseconds: milliseconds)
        } catch { throw CommandFailure("cannot watch", path: "standard output", error) }
    }
}
