import Glibc
import PurgeSystem

/// The destination of a verb's output and messages.
package final class Console {
    private let emit: (String) throws(Errno) -> Void
    private let emitMessage: (String) -> Void
    private var buffer = ""
    /// Whether the output goes to a terminal.
    package let isTerminal: Bool
    /// The columns of the terminal; nil if the output goes elsewhere.
    package var width: Int? { isTerminal ? System.terminalSize(STDOUT_FILENO).columns : nil }

    package init(
        isTerminal: Bool = false, output: @escaping (String) throws(Errno) -> Void, messages: @escaping (String) -> Void
    ) {
        emit = output
        emitMessage = messages
        self.isTerminal = isTerminal
    }

    /// Returns this process's standard output and standard error.
    package static func standard() -> Console {
        Console(isTerminal: isatty(STDOUT_FILENO) == 1) { (text) throws(Errno) in
            try Self.write(text, STDOUT_FILENO)
        } messages: { text in
            do { try Self.write(text, STDERR_FILENO) } catch {}  // there is no other way to report it
        }
    }

    /// Adds a line to the buffered output.
    package func print(_ line: String) throws(CommandFailure) { try write(line + "\n") }

    package func write(_ text: String) throws(CommandFailure) {
        buffer += text
        if buffer.utf8.count > 1 << 16 { try flush() }
    }

    /// Writes the buffered output, or discards it if that fails.
    package func flush() throws(CommandFailure) {
        guard !buffer.isEmpty else { return }
        defer { buffer = "" }
        do throws(Errno) {
            try emit(buffer)
        } catch {
            throw CommandFailure(
                "cannot write the answer", path: "standard output", error,
                advice: error == .badFileDescriptor ? "It is closed: redirect it to a file." : "")
        }
    }

    /// Prints a message for the user on standard error.
    package func warn(_ message: String) { emitMessage("purgefs: \(message)\n") }
    /// Prints lines on standard error without the prefix `purgefs: `, such as the usage after an invalid command line.
    package func note(_ text: String) { emitMessage(text + "\n") }

    private static func write(_ text: String, _ fd: Int32) throws(Errno) {
        try System.writeAll(fd, Array(text.utf8))
    }
}
