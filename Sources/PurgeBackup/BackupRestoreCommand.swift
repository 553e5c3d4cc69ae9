import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

/// `purgefs backup restore`.
struct BackupRestoreCommand {
    private static let what = "cannot restore"
    private let work: BackupWork
    private let backup: String
    private let store: String

    init(_ invocation: Invocation) throws(CommandFailure) {
        work = BackupWork(invocation: invocation)
        guard work.operands.count == 2 else {
            throw .usage("restore takes two operands: the backup, and the new store")
        }
        (backup, store) = (work.operands[0], work.operands[1])
        if invocation.arguments.has(.backupOutput) { throw .usage("--output is an option of create") }
    }

    func run() throws(CommandFailure) {
        try PlaceChecks(Surroundings(mounts: MountEntry.all())).check(store: store, what: Self.what)
        let outcome = try work.run(Self.what) { () throws(StoreError) in
            try BackupRestoration(backup, work.progress("restoring", path: store)).run(to: store)
        }
        let comparison = compare(outcome)
        try work.endWaiting("\(store) has been restored, and is complete")
        guard !work.asJSON else {
            return try work.console.print(JSONText.encode(RestoreText(outcome, comparison)))
        }
        try show(outcome, comparison)
    }

    private func show(_ outcome: BackupRestoration.Outcome, _ comparison: RestoreComparison?) throws(CommandFailure) {
        let console = work.console
        let summary = outcome.summary
        try console.print(
            "\(VisibleText.of(store)): \(summary.entries) \(summary.entries == 1 ? "entry" : "entries"), "
                + "\(summary.bytes.inWords), container \(outcome.containerID)")
        if !outcome.dropped.isEmpty {
            try console.print(
                "restored without set-ID bits and capabilities, because the store does not belong to "
                    + "root:")
            try work.list(
                outcome.dropped.map { "\(VisibleText.of($0.path))  (\($0.privileges.joined(separator: ", ")))" })
        }
        guard let comparison else {
            try console.print(
                "the original store is gone or cannot be read: entries newer than the backup are unknown")
            return try console.print(
                "left out of the backup: \(summary.leftOutEntries) "
                    + (summary.leftOutEntries == 1 ? "entry" : "entries"))
        }
        try console.print(
            "missing compared with \(VisibleText.of(outcome.header.source)): \(comparison.entries) "
                + (comparison.entries == 1 ? "entry" : "entries"))
        try work.list(
            comparison.missing.map { BackupSummaryText.line($0.path, $0.reason.inWords, $0.bytes, $0.entries) })
        guard !comparison.unexpected.isEmpty else { return }
        try console.print("restored, but excluded from backups since then:")
        try work.list(comparison.unexpected.map(VisibleText.of))
    }

    /// Compares the new store with the original store. Returns nil if the original is gone, has another container now, or
    /// cannot be read, and after a signal.
    private func compare(_ outcome: BackupRestoration.Outcome) -> RestoreComparison? {
        let path = outcome.header.source
        guard Target.isStore(path) else { return nil }
        do {
            guard try StoreAtRest.savedSettings(of: path)?.containerID == outcome.header.container else { return nil }
            let source = try source(path)
            return try RestoreComparison(
                of: source.files, with: outcome.store, work.progress("comparing", path: path))
        } catch {
            // The caller reports the signal.
            guard System.endSignal() == nil else { return nil }
            work.console.warn(
                VisibleText.of("warning: \(path) cannot be compared with the restored store: ")
                    + "\(error)".split(separator: "\n").map { VisibleText.of(String($0)) }.joined(separator: "\n"))
            return nil
        }
    }

    /// Returns the files of a store. If the store is not mounted, also returns the open store, whose lock keeps the files from
    /// changing.
    private func source(_ path: String) throws -> (files: BackupSource, store: Store?) {
        if let mount = Target.mount(ofStore: path) { return (try BackupSource(mount: mount), nil) }
        let store = try Store.openForReading(path)
        return (BackupSource(store, try store.loadSettings()), store)
    }
}

extension RestoreComparison.Reason {
    var inWords: String {
        switch self {
        case .leftOut(let exclusion): exclusion.inWords
        case .newer: "made after the backup"
        }
    }

    var name: String {
        switch self {
        case .leftOut(let exclusion): exclusion.rawValue
        case .newer: "newer"
        }
    }
}

/// The outcome of a restoration as JSON.
struct RestoreText: Encodable {
    var container: String
    var entries: Int64
    var bytes: ByteCount
    /// The store that was backed up.
    var source: String
    /// Entries that the source has and the new store does not; nil if they could not be compared.
    var missing: [BackupSummaryText.Omission]?
    var unexpected: [String]?
    /// Files restored without their set-user-ID bit, set-group-ID bit or capabilities; nil if there are none.
    var dropped: [DroppedPrivileges]?

    init(_ outcome: BackupRestoration.Outcome, _ comparison: RestoreComparison?) {
        container = outcome.containerID
        (entries, bytes, source) = (outcome.summary.entries, outcome.summary.bytes, outcome.header.source)
        missing = comparison?.missing.map {
            .init(path: $0.path, reason: $0.reason.name, bytes: $0.bytes, entries: $0.entries)
        }
        unexpected = comparison?.unexpected
        dropped = outcome.dropped.isEmpty ? nil : outcome.dropped
    }
}
