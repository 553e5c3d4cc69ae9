import Glibc
import PurgeCommandLine
import PurgeModel
import PurgeStore
import PurgeSystem

/// The output of a cleaning: a progress bar on a terminal, JSON lines, or plain lines.
final class CleaningReport {
    private enum Form { case bar, json, plain }

    private let console: Console
    private let form: Form
    private let bar = Bar.forLocale()
    private var progress: CleaningProgress?
    private var isDrawn = false

    init(_ console: Console, asJSON: Bool) {
        self.console = console
        let isDumb = getenv("TERM").map { strcmp($0, "dumb") == 0 } ?? true
        form = asJSON ? .json : console.isTerminal && !isDumb ? .bar : .plain
    }

    /// Shows a phase that begins or has advanced.
    func show(_ progress: CleaningProgress) throws(CommandFailure) {
        self.progress = progress
        switch form {
        case .plain: return
        case .json:
            let line = PhaseLine(phase: progress.phase, progress: progress.fraction)
            try console.print(JSONText.encode(line))
        case .bar: try draw()
        }
        try console.flush()
    }

    /// Ends a phase; `text` is its result.
    func end(_ progress: CleaningProgress, _ text: String) throws(CommandFailure) {
        if form == .json { return try show(progress) }
        self.progress = nil
        try line("\(progress.phase.rawValue): \(text)")
    }

    func show(_ outcome: CleaningOutcome) throws(CommandFailure) {
        if form == .json {
            try console.print(JSONText.encode(OutcomeLine(outcome)))
        } else if outcome.failure == nil {
            try line("task \(outcome.task): \(outcome.subject): \(Self.words(outcome))")
        }
        guard let failure = outcome.failure else { return try console.flush() }
        warn(
            CommandFailure(
                "task \(outcome.task) failed", path: outcome.subject, failure.reason, advice: failure.advice
            ).message)
    }

    /// Prints a warning above the bar.
    func warn(_ message: String) {
        // If the output cannot be written, the next line printed to it throws the error.
        do throws(CommandFailure) { try clear() } catch {}
        console.warn(message)
        do throws(CommandFailure) { try redraw() } catch {}
    }

    /// Shows an entry that would be removed.
    func plan(_ task: Int, path: String, bytes: ByteCount) throws(CommandFailure) {
        if form == .json {
            try console.print(JSONText.encode(PlannedLine(task: task, path: path, bytes: bytes.bytes)))
        } else {
            let size = HelpText.aligned(bytes.inWords, 12)
            try console.print("task \(HelpText.padded("\(task)", 4))\(size)  \(VisibleText.of(path))")
        }
    }

    /// Shows a command that would be run.
    func plan(_ task: Int, _ call: CleaningCall, _ command: String) throws(CommandFailure) {
        if form == .json {
            try console.print(JSONText.encode(PlannedLine(task: task, hook: call.name, command: command)))
        } else {
            try console.print("task \(HelpText.padded("\(task)", 4))\(VisibleText.of("\(call.name): \(command)"))")
        }
    }

    func planned(files: Int, bytes: ByteCount, calls: Int) throws(CommandFailure) {
        guard form != .json else { return }
        try console.print(
            "would remove \(files) \(files == 1 ? "file" : "files"), \(bytes.inWords), and run \(calls) "
                + (calls == 1 ? "command" : "commands"))
    }

    func done(before: ByteCount, after: ByteCount, failed: Int) throws(CommandFailure) {
        let removed = max(.zero, before - after)
        // A MB of mPaaS is 2^20 bytes (docs/CLEANER.md).
        let megabytes = Double(removed.bytes) / 1_048_576
        if form == .json {
            let line = DoneLine(
                phase: .done, megabytes: megabytes, bytes: removed.bytes, before: before.bytes, after: after.bytes,
                failed: failed)
            return try console.print(JSONText.encode(line))
        }
        let hundredths = (removed.bytes * 100 + (1 << 19)) >> 20
        let decimals = hundredths % 100 < 10 ? "0\(hundredths % 100)" : "\(hundredths % 100)"
        try console.print("done: removed \(hundredths / 100).\(decimals) MiB (\(removed.bytes) bytes)")
    }

    /// Removes the bar until the next output, so that a command can print.
    func clear() throws(CommandFailure) {
        try erase()
        try console.flush()
    }

    /// Removes the bar for good.
    func close() throws(CommandFailure) {
        progress = nil
        try clear()
    }
}

extension CleaningReport {
    private static let barWidth = 40
    /// The columns for the phase, the percentage and the margin.
    private static let besideBar = 24

    private func line(_ text: String) throws(CommandFailure) {
        try erase()
        try console.print(text)
        try redraw()
    }

    private func erase() throws(CommandFailure) {
        guard isDrawn else { return }
        isDrawn = false
        try console.write("\r\u{1B}[K")
    }

    private func redraw() throws(CommandFailure) {
        if form == .bar, progress != nil { try draw() }
        try console.flush()
    }

    private func draw() throws(CommandFailure) {
        guard let progress else { return }
        let columns = System.terminalSize(STDOUT_FILENO).columns
        let cells = bar.text(
            Int64(progress.percent), of: 100, width: max(0, min(Self.barWidth, columns - Self.besideBar)))
        let percent = HelpText.aligned("\(progress.percent)", 3) + " %"
        // Without room for a bar, only the percentage is shown. The line must not wrap, because the wrapped part could not be
        // erased.
        let text = cells.isEmpty ? percent : "\(HelpText.padded(progress.phase.rawValue, 16))\(cells) \(percent)"
        try console.write("\r\(text.prefix(max(0, columns - 1)))\u{1B}[K")
        isDrawn = true
    }

    private static func words(_ outcome: CleaningOutcome) -> String {
        guard case .path = outcome.work else { return "done" }
        if outcome.isMissing { return "there is nothing" }
        return "removed \(outcome.files) \(outcome.files == 1 ? "file" : "files"), \(outcome.bytes.inWords)"
    }
}

private struct PhaseLine: Encodable {
    var phase: CleaningPhase
    var progress: Double
}

private struct OutcomeLine: Encodable {
    var task: Int
    var path: String?
    var hook: String?
    var files: Int?
    var bytes: Int64?
    var missing: Bool?
    var failed: String?

    init(_ outcome: CleaningOutcome) {
        task = outcome.task
        switch outcome.work {
        case .path(let path): (self.path, files, bytes) = (path, outcome.files, outcome.bytes.bytes)
        case .call(let call): hook = call.name
        }
        missing = outcome.isMissing ? true : nil
        failed = outcome.failure?.reason
    }
}

private struct PlannedLine: Encodable {
    var task: Int
    var path: String?
    var bytes: Int64?
    var hook: String?
    var command: String?

    init(task: Int, path: String, bytes: Int64) { (self.task, self.path, self.bytes) = (task, path, bytes) }
    init(task: Int, hook: String, command: String) { (self.task, self.hook, self.command) = (task, hook, command) }
}

private struct DoneLine: Encodable {
    var phase: CleaningPhase
    var megabytes: Double
    var bytes: Int64
    var before: Int64
    var after: Int64
    var failed: Int
}
