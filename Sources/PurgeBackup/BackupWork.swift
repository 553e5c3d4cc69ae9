import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

/// The common part of the three commands of `purgefs backup`.
struct BackupWork {
    let invocation: Invocation
    var console: Console { invocation.console }
    var isVerbose: Bool { invocation.arguments.has(.verbose) }
    var asJSON: Bool { invocation.arguments.has(.json) }

    /// The operands after the first, which names the command.
    var operands: [String] { Array(invocation.arguments.operands.dropFirst()) }

    /// Returns the target of `create` or `audit`, which take at most one.
    func target() throws(CommandFailure) -> Target {
        if operands.count > 1 { throw .usage("unexpected operand '\(operands[1])'") }
        return try Target(operands.first)
    }

    /// Blocks the signals that end this process, and runs `body`. A signal stays pending until the work checks for it, so that
    /// unfinished results can be removed.
    func run<Result>(
        _ what: String, _ body: () throws(StoreError) -> Result
    ) throws(CommandFailure) -> Result {
        do throws(Errno) { _ = try System.block(.ending) } catch {
            throw CommandFailure(what, path: "signals", error)
        }
        do throws(StoreError) {
            return try body()
        } catch {
            guard let signal = System.endSignal(), error.what == StoreError.interrupted("").what else {
                throw CommandFailure(what, error)
            }
            throw CommandFailure(
                status: ExitStatus.signal + signal, message: "\(what): interrupted; nothing was left behind")
        }
    }

    /// Lets signals end this process at once again, after `run`. If a signal is pending, throws a failure with a message that
    /// the work was finished.
    func endWaiting(_ done: String) throws(CommandFailure) {
        if let signal = System.endSignal() {
            throw CommandFailure(status: ExitStatus.signal + signal, message: VisibleText.of("interrupted; \(done)"))
        }
        do throws(Errno) { try System.unblock(.ending) } catch {
            throw CommandFailure("cannot end", path: "signals", error)
        }
    }

    /// Returns a progress line on standard error, shown if that is a terminal and the work takes more than a second.
    func progress(_ word: String, path: String) -> BackupProgress {
        ProgressLine.progress(word, path: path)
    }

    /// Prints the first `most` lines and the number of further ones, or all lines with --verbose.
    func list(_ lines: [String], most: Int = 10) throws(CommandFailure) {
        for line in isVerbose ? lines[...] : lines.prefix(most) { try console.print("  \(line)") }
        if !isVerbose, lines.count > most { try console.print("  and \(lines.count - most) more (--verbose)") }
    }
}

/// One line on standard error that is overwritten at most once a second, and removed at the end.
package final class ProgressLine {
    private var due = System.uptime() + 1_000_000_000
    private var isShown = false

    func show(_ text: String) {
        guard System.uptime() > due else { return }
        due = System.uptime() + 1_000_000_000
        isShown = true
        write("\r\(text)\u{1B}[K")
    }

    /// Returns a progress line, shown if standard error is a terminal and the work takes more than a second.
    package static func progress(_ word: String, path: String) -> BackupProgress {
        guard isatty(STDERR_FILENO) == 1 else { return BackupProgress(path: path) { _ in } }
        let line = ProgressLine()
        return BackupProgress(path: path) {
            line.show("\(word): \($0.entries) entries, \(ByteCount($0.bytes).inWords)")
        }
    }

    deinit { if isShown { write("\r\u{1B}[K") } }

    private func write(_ text: String) {
        do throws(Errno) {
            _ = try System.write(STDERR_FILENO, Array(text.utf8))
        } catch {}  // best effort
    }
}
