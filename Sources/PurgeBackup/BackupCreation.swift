import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// Creates a backup of a container (docs/BACKUP.md).
struct BackupCreation {
    private let source: BackupSource
    private let header: BackupHeader
    private let progress: BackupProgress

    init(_ source: BackupSource, _ header: BackupHeader, _ progress: BackupProgress) {
        (self.source, self.header, self.progress) = (source, header, progress)
    }

    static let archiveName = "data.tar"
    static let kind = UnfinishedDirectory.Kind(what: "the backup", suffix: ".unfinished-backup")

    /// Creates a directory with manifest.json and data.tar. The directory appears only when it is complete.
    func run(to directory: String) throws(StoreError) -> BackupSummary {
        let unfinished = try UnfinishedDirectory(for: directory, Self.kind)
        do throws(StoreError) {
            let summary = try fill(unfinished)
            try progress.step()
            try unfinished.publish("the backup")
            return summary
        } catch {
            unfinished.discard()
            throw error
        }
    }

    private func fill(_ unfinished: UnfinishedDirectory) throws(StoreError) -> BackupSummary {
        let folder = unfinished.descriptor
        let (data, text) = try writing(unfinished.path) { () throws(Errno) in
            (
                try folder.open(Self.archiveName, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600),
                try folder.open(ArchiveWriter.manifestName, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            )
        }
        let archive = try ArchiveWriter(to: data, path: unfinished.path)
        let manifest = try ManifestWriter(header, to: text, path: unfinished.path)
        var omissions = Omissions()
        var totals = ManifestTotals()
        try readAll(into: archive, &omissions) { (entry) throws(StoreError) in
            totals.add(entry)
            try manifest.add(entry)
        }
        try archive.close()
        totals.archive = .init(bytes: archive.written.count, crc32: archive.written.text)
        totals.add(omissions.list)
        try manifest.finish(omissions.list, totals)
        try writing(unfinished.path) { () throws(Errno) in
            for file in [data, text, folder] { try System.sync(file.raw) }
        }
        return BackupSummary(totals, omissions.list)
    }

    /// Writes one archive that begins with the manifest. So everything is read twice: first for the checksums in the manifest,
    /// and then for the data. `file` need not be seekable.
    func run(to file: FileDescriptor, named name: String) throws(StoreError) -> BackupSummary {
        let spool = try Spool.make()
        let manifest = try ManifestWriter(header, to: spool, path: try Spool.directory(), isSpooled: true)
        var omissions = Omissions()
        var totals = ManifestTotals()
        try readAll(into: NoSink(), &omissions) { (entry) throws(StoreError) in
            totals.add(entry)
            try manifest.add(entry)
        }
        totals.add(omissions.list)
        try manifest.finish(omissions.list, totals)
        let archive = try ArchiveWriter(to: file, path: name)
        try archive.manifest(spool)
        try readAgain(into: archive, ManifestReader(spool, path: name))
        try archive.close()
        return BackupSummary(totals, omissions.list)
    }

    /// Reads everything again. Throws if an entry differs from the manifest that the first pass created.
    private func readAgain(into archive: ArchiveWriter, _ manifest: ManifestReader) throws(StoreError) {
        progress.begin()
        var omissions = Omissions()
        try readAll(into: archive, &omissions) { (entry) throws(StoreError) in
            guard try manifest.nextEntry() == entry else { throw source.changed(entry.bytes ?? []) }
        }
        if let missing = try manifest.nextEntry() { throw source.changed(missing.bytes ?? []) }
    }

    private func readAll(
        into sink: some EntrySink, _ omissions: inout Omissions,
        each: (ManifestEntry) throws(StoreError) -> Void
    ) throws(StoreError) {
        let reader = EntryReader(source, progress)
        var left = omissions
        try ContainerWalk(source: source).run { (entry) throws(StoreError) in
            try progress.noteEntry()
            if entry.placement.exclusion != nil { left.add(entry) }
            // The container itself is always in the backup, even if it is excluded together with everything in it.
            guard entry.placement.exclusion == nil || entry.path.isEmpty else { return true }
            guard let found = try reader.read(entry, into: sink) else { return false }
            try each(found)
            return true
        }
        left.addLinkedFiles { reader.has($0) }
        omissions = left
    }

    private func writing<Result>(
        _ path: String, _ body: () throws(Errno) -> Result
    ) throws(StoreError) -> Result {
        do throws(Errno) { return try body() } catch {
            throw .ofBackup("the backup cannot be written", path: path, error)
        }
    }
}

/// The entries that a backup contains and leaves out.
struct BackupSummary: Sendable {
    struct Omission: Sendable {
        /// The path as text, with U+FFFD in place of bytes that are not UTF-8.
        var path: String
        var reason: BackupExclusion
        var bytes: ByteCount
        var entries: Int64
    }

    var entries: Int64
    var bytes: ByteCount
    var leftOut: [Omission]
    /// The number of entries left out, including the contents of folders in `leftOut`.
    let leftOutEntries: Int64

    init(_ totals: ManifestTotals, _ omissions: [ManifestOmission]) {
        (entries, bytes) = (totals.entries, ByteCount(totals.bytes))
        leftOut = omissions.map(Omission.init)
        leftOutEntries = totals.leftOut
    }
}

extension BackupSummary.Omission {
    init(_ omission: ManifestOmission) {
        self.init(
            path: PathForm.text(ManifestPath.decoded(omission.path, omission.pathBase64) ?? []),
            reason: omission.reason, bytes: ByteCount(omission.bytes), entries: omission.entries)
    }
}

/// The omitted entries. A folder is listed once, with the sum of its contents.
struct Omissions {
    private(set) var list: [ManifestOmission] = []
    /// The omitted hard-linked files, each with the index of the first omission that contains it.
    private var linked: [FileIdentity: (index: Int, bytes: Int64)] = [:]

    mutating func add(_ entry: WalkedEntry) {
        guard let reason = entry.placement.exclusion else { return }
        if entry.placement.isFirst { list.append(ManifestOmission(entry.path, reason)) }
        guard !list.isEmpty, !entry.path.isEmpty else { return }
        list[list.count - 1].entries += 1
        guard entry.kind == S_IFREG else { return }
        let (file, bytes) = (FileIdentity(entry.status), Int64(entry.status.st_size))
        if entry.status.st_nlink == 1 {
            list[list.count - 1].bytes += bytes
        } else if linked[file] == nil {
            linked[file] = (list.count - 1, bytes)
        }
    }

    /// Adds the size of each omitted hard-linked file once, unless the file is in the backup under another name.
    mutating func addLinkedFiles(unless isInBackup: (FileIdentity) -> Bool) {
        for (file, first) in linked where !isInBackup(file) { list[first.index].bytes += first.bytes }
    }
}

extension ManifestTotals {
    mutating func add(_ entry: ManifestEntry) {
        entries += 1
        bytes += entry.size ?? 0
    }

    mutating func add(_ omissions: [ManifestOmission]) {
        // A manifest may be hostile, so sums saturate.
        leftOut = omissions.reduce(.zero) { $0 + ByteCount($1.entries) }.bytes
        leftOutBytes = omissions.reduce(.zero) { $0 + ByteCount($1.bytes) }.bytes
    }
}
