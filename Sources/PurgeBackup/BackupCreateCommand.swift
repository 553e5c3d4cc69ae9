import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

/// `purgefs backup create`.
struct BackupCreateCommand {
    private static let what = "cannot back up"
    private let work: BackupWork
    private let output: String

    init(_ invocation: Invocation) throws(CommandFailure) {
        work = BackupWork(invocation: invocation)
        guard let output = invocation.arguments.text(.backupOutput) else {
            throw .usage("--output DIR is missing: name the backup to write")
        }
        self.output = output
    }

    func run() throws(CommandFailure) {
        let target = try BackupTarget(try work.target(), for: Self.what)
        if let warning = target.warning { work.console.warn("warning: \(warning)") }
        let summary = output == "-" ? try stream(target) : try directory(target)
        do throws(CommandFailure) { try target.note(summary) } catch {
            work.console.warn("warning: the backup is complete, but \(error.message)")
        }
        try work.endWaiting("\(output) is complete")
        guard output != "-" else { return work.console.note(Self.line(summary, "standard output")) }
        try show(summary)
    }

    private func directory(_ target: BackupTarget) throws(CommandFailure) -> BackupSummary {
        try PlaceChecks(Surroundings(mounts: MountEntry.all())).check(backup: output)
        return try work.run(Self.what) { () throws(StoreError) in
            try BackupCreation(target.source, target.header, work.progress("backing up", path: output)).run(to: output)
        }
    }

    /// Writes the backup to standard output. A signal ends the process at once, because there is no output to remove. An entry
    /// that was made readable then stays readable.
    private func stream(_ target: BackupTarget) throws(CommandFailure) -> BackupSummary {
        guard isatty(STDOUT_FILENO) != 1 else {
            throw .usage("--output -: an archive is not written to a terminal; redirect it, or name a directory")
        }
        do throws(StoreError) {
            let progress = work.progress("backing up", path: "standard output")
            return try BackupCreation(target.source, target.header, progress)
                .run(to: try Self.standardOutput(), named: "standard output")
        } catch { throw CommandFailure(Self.what, error) }
    }

    /// Returns a duplicate, so that standard output itself stays open.
    private static func standardOutput() throws(StoreError) -> FileDescriptor {
        do throws(Errno) {
            return try System.duplicate(STDOUT_FILENO)
        } catch { throw .failed("the backup cannot be written", path: "standard output", error) }
    }

    private static func line(_ summary: BackupSummary, _ place: String) -> String {
        "\(VisibleText.of(place)): \(summary.entries) \(summary.entries == 1 ? "entry" : "entries"), "
            + summary.bytes.inWords
    }

    private func show(_ summary: BackupSummary) throws(CommandFailure) {
        let console = work.console
        guard !work.asJSON else { return try console.print(JSONText.encode(BackupSummaryText(summary))) }
        try console.print(Self.line(summary, output))
        guard !summary.leftOut.isEmpty else { return }
        try console.print("left out:")
        try work.list(summary.leftOut.map(BackupSummaryText.line))
    }
}

/// A summary in the form of the JSON output.
struct BackupSummaryText: Encodable {
    struct Omission: Encodable {
        var path: String
        var reason: String
        var bytes: ByteCount
        var entries: Int64
    }

    var entries: Int64
    var bytes: ByteCount
    var leftOut: [Omission]

    init(_ summary: BackupSummary) {
        (entries, bytes) = (summary.entries, summary.bytes)
        leftOut = summary.leftOut.map {
            Omission(path: $0.path, reason: $0.reason.rawValue, bytes: $0.bytes, entries: $0.entries)
        }
    }

    static func line(_ omission: BackupSummary.Omission) -> String {
        line(omission.path, omission.reason.inWords, omission.bytes, omission.entries)
    }

    static func line(_ path: String, _ reason: String, _ bytes: ByteCount, _ entries: Int64) -> String {
        let count = entries == 1 ? "" : ", \(entries) entries"
        return "\(HelpText.aligned(bytes.inWords, 10))  \(VisibleText.of(path))  (\(reason)\(count))"
    }
}
