import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// Creates a new store from a backup (docs/BACKUP.md, Restoring).
struct BackupRestoration {
    /// The result of a restoration.
    struct Outcome {
        let header: BackupHeader
        /// The new store, which stays open and locked for the lifetime of this value.
        let store: Store
        let containerID: String
        let summary: BackupSummary
        let dropped: [DroppedPrivileges]
    }

    /// The name of a file that keeps the directory from being taken for a store.
    private static let mark = "unfinished-restore"
    static let kind = UnfinishedDirectory.Kind(what: "the store", suffix: ".unfinished-restore")

    private let input: BackupInput
    private let progress: BackupProgress

    /// Opens `backup`: a directory, an archive, or `-` for standard input.
    init(_ backup: String, _ progress: BackupProgress) throws(StoreError) {
        input = try BackupInput(backup)
        self.progress = progress
    }

    /// Restores to `path`, which must not exist, or must be an empty directory. Nothing appears there until everything has been
    /// compared with the manifest.
    func run(to path: String) throws(StoreError) -> Outcome {
        let unfinished = try UnfinishedDirectory(for: path, Self.kind)
        do throws(StoreError) {
            return try fill(unfinished)
        } catch {
            unfinished.discard()
            throw error
        }
    }

    private func fill(_ unfinished: UnfinishedDirectory) throws(StoreError) -> Outcome {
        let container = try making(unfinished) { (folder) throws(Errno) in
            _ = try folder.open(Self.mark, O_WRONLY | O_CREAT, mode: 0o600)
            try System.makeDirectory(at: folder.raw, "container", mode: 0o755)
            return try folder.open("container", O_RDONLY | O_DIRECTORY)
        }
        let owner = try making(unfinished) { (folder) throws(Errno) in try System.status(folder.raw).st_uid }
        var restorer = EntryRestorer(input, into: container, for: owner, progress)
        try restorer.run()
        try making(unfinished) { (folder) throws(Errno) in try System.unlink(at: folder.raw, Self.mark) }
        let store = try Store.make(in: unfinished.descriptor, path: unfinished.workPath)
        try restorer.finish()
        let outcome = Outcome(
            header: input.manifest.header, store: store, containerID: Device.fresh().containerID,
            summary: try summary(restorer), dropped: restorer.dropped)
        try save(outcome)
        try making(unfinished) { (_) throws(Errno) in try System.syncFileSystem(store.directory.raw) }
        try progress.step()
        try unfinished.publish("the store")
        return outcome
    }

    private func summary(_ restorer: EntryRestorer) throws(StoreError) -> BackupSummary {
        var omissions: [ManifestOmission] = []
        while let omission = try input.manifest.nextOmission() { omissions.append(omission) }
        var totals = ManifestTotals()
        (totals.entries, totals.bytes) = (restorer.entries, restorer.bytes)
        totals.add(omissions)
        let expected = input.manifest.totals
        guard totals.leftOut == expected.leftOut, totals.leftOutBytes == expected.leftOutBytes else {
            throw input.archive.damaged("the items left out do not add up to the totals at the end of its manifest")
        }
        return BackupSummary(totals, omissions)
    }

    private func save(_ outcome: Outcome) throws(StoreError) {
        let device = outcome.header.device.restored(containerID: outcome.containerID)
        let journal = try Journal.open(in: outcome.store)
        defer { journal.close() }
        var event = BackupEvent.restored(outcome.summary, from: outcome.header)
        (event.seq, event.time) = (journal.lastSequence + 1, StoredClock.now(secondsAhead: device.clock).iso8601)
        try journal.append([event])
        try outcome.store.saveSettings(device)
    }

    private func making<Result>(
        _ unfinished: UnfinishedDirectory, _ body: (FileDescriptor) throws(Errno) -> Result
    ) throws(StoreError) -> Result {
        do throws(Errno) {
            return try body(unfinished.descriptor)
        } catch { throw .failed("the store cannot be made", path: unfinished.path, error) }
    }
}

extension BackupSummary {
    /// The record of the backup in the journal of the backed-up container.
    var note: BackupNote {
        BackupNote(bytes: bytes, entries: entries, leftOut: leftOutEntries)
    }
}

/// The first event in the journal of a restored container.
enum BackupEvent {
    static func restored(_ summary: BackupSummary, from header: BackupHeader) -> Event {
        Event(
            type: .restore, bytes: summary.bytes,
            reason:
                "\(summary.entries) \(summary.entries == 1 ? "entry" : "entries") of container \(header.container), backed up at \(header.created)",
            pid: getpid(), cause: header.container)
    }
}
