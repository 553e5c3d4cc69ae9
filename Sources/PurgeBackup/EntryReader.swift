import Glibc
import PurgeStore
import PurgeSystem

/// Reads the entries of a container for a backup, and passes them to a sink.
final class EntryReader {
    let source: BackupSource
    let progress: BackupProgress
    let buffers = FileBuffers()
    /// Hard-linked files already in the backup.
    private var linked: [FileIdentity: LinkedFile] = [:]

    /// An open file, with its metadata for the backup.
    struct OpenFile {
        let descriptor: FileDescriptor
        let status: FileStatus
        let record: EntryRecord
    }

    /// A hard-linked file, as it was when its data was read.
    private struct LinkedFile {
        /// The hard-link entry for a further name; its path is still empty.
        let further: EntryRecord
        let status: FileStatus
    }

    init(_ source: BackupSource, _ progress: BackupProgress) { (self.source, self.progress) = (source, progress) }

    /// Reads an entry and passes it to `sink`; returns nil if the entry was gone before any of it was read.
    func read(_ entry: WalkedEntry, into sink: some EntrySink) throws(StoreError) -> ManifestEntry? {
        if entry.kind == S_IFREG { return try readFile(entry, into: sink) }
        let record: EntryRecord
        do throws(Errno) {
            record = try entry.kind == S_IFLNK ? link(entry) : directory(entry)
        } catch .noEntry { return nil } catch { throw source.failure("it cannot be read", entry.path, error) }
        try begin(record, sink)
        return ManifestEntry(record, data: nil)
    }

    /// Whether a hard-linked file is in the backup under one of its names.
    func has(_ file: FileIdentity) -> Bool { linked[file] != nil }

    /// The number of attempts to read a small file that changes while it is being read. Programs finish writing most files in
    /// much less time than all attempts take together.
    private static let attempts = 100

    private func readFile(_ entry: WalkedEntry, into sink: some EntrySink) throws(StoreError) -> ManifestEntry? {
        if let found = try readFurtherName(entry, entry.status, into: sink) { return found }
        for _ in 0..<Self.attempts {
            let file: OpenFile
            do throws(Errno) {
                file = try open(entry)
            } catch .noEntry { return nil } catch .stale, Errno(ELOOP), .noSuchAddressOrDevice { continue } catch {
                throw source.failure("it cannot be read", entry.path, error)
            }
            // The file may have been replaced since the walk saw it.
            if let found = try readFurtherName(entry, file.status, into: sink) { return found }
            let isSmall = file.status.st_size <= FileBuffers.size
            guard let data = try isSmall ? readSmall(file, into: sink) : readLarge(file, into: sink) else { continue }
            // The file is noted only after it is in the archive, because its later names become links to it.
            note(file)
            return ManifestEntry(file.record, data: data)
        }
        throw changed(entry.path)
    }

    func begin(_ record: EntryRecord, _ sink: some EntrySink) throws(StoreError) {
        guard record.attributes.reduce(0, { $0 + $1.name.count + $1.value.count }) < Self.mostAttributes else {
            throw StoreError(
                "its extended attributes have more than 900 KiB in all, which an archive cannot hold",
                path: source.pathOf(record.path), advice: "Remove some, or exclude it from backups.")
        }
        try sink.begin(record)
    }

    /// The limit for all attributes together. libarchive reads no header of more than 1 MiB.
    private static let mostAttributes = 900 << 10

    func changed(_ path: [UInt8]) -> StoreError { source.changed(path) }
}

// Entries without their data.
extension EntryReader {
    private func record(_ path: [UInt8], _ kind: EntryRecord.Kind, _ status: FileStatus) -> EntryRecord {
        var record = EntryRecord(path: path, kind: kind)
        record.mode = status.st_mode & 0o7777
        (record.owner, record.group) = (status.st_uid, status.st_gid)
        (record.accessed, record.modified) = (status.st_atim, status.st_mtim)
        return record
    }

    private func directory(_ entry: WalkedEntry) throws(Errno) -> EntryRecord {
        var record = record(entry.path, .directory, entry.status)
        record.attributes = try attributes(entry.folder.raw, entry.name)
        try takeTimes(&record, entry.status, entry.folder.raw, entry.name)
        return record
    }

    private func link(_ entry: WalkedEntry) throws(Errno) -> EntryRecord {
        var record = record(entry.path, .symbolicLink, entry.status)
        record.mode = 0o777
        guard let name = entry.name else { return record }
        record.link = try System.readLink(at: entry.folder.raw, name).map { UInt8(bitPattern: $0) }
        try takeTimes(&record, entry.status, entry.folder.raw, name)
        return record
    }

    /// Opens a regular file and reads its metadata; throws ESTALE if it is no longer a regular file.
    private func open(_ entry: WalkedEntry) throws(Errno) -> OpenFile {
        guard let name = entry.name else { throw .noEntry }
        var translated = EntryRecord(path: entry.path, kind: .file)
        let descriptor = try source.withAccess(to: name, in: entry.folder, entry.status) { () throws(Errno) in
            let file = try source.open(name, in: entry.folder, entry.status)
            let status = try System.status(file.raw)
            guard status.isRegularFile else { throw .stale }
            try takeTimes(&translated, status, file.raw, nil)
            translated.attributes = try attributes(file.raw, nil)
            return file
        }
        var (status, runs) = try Self.data(of: descriptor)
        let isDense = runs.reduce(0) { $0 + $1.count } == status.st_size
        if !isDense || status.st_size > FileBuffers.size {
            try source.settle(descriptor)
            (status, runs) = try Self.data(of: descriptor)
        }
        var record = record(entry.path, .file, status)
        record.attributes = translated.attributes
        if source.isInStore { (record.accessed, record.modified) = (translated.accessed, translated.modified) }
        (record.size, record.runs) = (Int64(status.st_size), runs)
        return OpenFile(descriptor: descriptor, status: status, record: record)
    }

    /// For an entry in a store, sets the times of `record` to those that a mount would show. Does nothing for a mount, which
    /// has already translated its times.
    private func takeTimes(
        _ record: inout EntryRecord, _ status: FileStatus, _ folder: Int32, _ name: RawText?
    ) throws(Errno) {
        guard let device = source.device else { return }
        (record.accessed, record.modified) =
            if let name { try VisibleAttributes.times(status, of: folder, name, on: device) } else {
                try VisibleAttributes.times(status, of: folder, nil, on: device)
            }
    }

    private func attributes(_ folder: Int32, _ name: RawText?) throws(Errno) -> [VisibleAttributes.Attribute] {
        guard let name else { return try VisibleAttributes.all(of: folder, nil, inStore: source.isInStore) }
        return try VisibleAttributes.all(of: folder, name, inStore: source.isInStore)
    }

    private static func data(of file: FileDescriptor) throws(Errno) -> (FileStatus, [Range<Int64>]) {
        let status = try System.status(file.raw)
        return (status, try FileRuns.data(of: file.raw, size: Int64(status.st_size)))
    }
}

// Hard-linked files.
extension EntryReader {
    /// Passes a file that is already in the backup under another name to `sink` as a hard link to that name. Returns nil for
    /// any other file.
    private func readFurtherName(
        _ entry: WalkedEntry, _ status: FileStatus, into sink: some EntrySink
    ) throws(StoreError) -> ManifestEntry? {
        guard status.st_nlink > 1, let first = linked[FileIdentity(status)] else { return nil }
        // Either the file was written to, or another file has the same inode number now.
        guard status.hasSameData(as: first.status) else { throw changed(entry.path) }
        var record = first.further
        record.path = entry.path
        try begin(record, sink)
        return ManifestEntry(record, data: nil)
    }

    private func note(_ file: OpenFile) {
        guard file.status.st_nlink > 1 else { return }
        var further = file.record
        further.kind = .hardLink
        further.link = further.path
        (further.path, further.size, further.attributes, further.runs) = ([], 0, [], [])
        linked[FileIdentity(file.status)] = LinkedFile(further: further, status: file.status)
    }
}

extension FileStatus {
    /// Whether size and modification time are equal; every write changes the latter.
    func hasSameData(as other: FileStatus) -> Bool {
        st_size == other.st_size && st_mtim.tv_sec == other.st_mtim.tv_sec && st_mtim.tv_nsec == other.st_mtim.tv_nsec
    }

    /// Whether size, modification time and change time are equal. Every change of data or metadata updates the change time.
    func isUnchanged(since other: FileStatus) -> Bool {
        hasSameData(as: other) && st_ctim.tv_sec == other.st_ctim.tv_sec && st_ctim.tv_nsec == other.st_ctim.tv_nsec
    }
}
