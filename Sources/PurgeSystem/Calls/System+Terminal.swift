import CSystemShims
import Glibc

public struct TerminalSize: Hashable, Sendable {
    public var columns: Int
    public var rows: Int
    public init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}

extension System {
    /// Returns the size of a terminal, or 80 x 24 if the terminal does not report it.
    public static func terminalSize(_ descriptor: Int32) -> TerminalSize {
        var columns: UInt16 = 0
        var rows: UInt16 = 0
        guard shim_window_size(descriptor, &columns, &rows) == 0, columns > 0, rows > 0 else {
            return TerminalSize(columns: 80, rows: 24)
        }
        return TerminalSize(columns: Int(columns), rows: Int(rows))
    }
}
