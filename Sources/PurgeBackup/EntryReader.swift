import Glibc
import PurgeStore
import PurgeSystem
import PurgeVolume

/// Reads the entries of a container that go into a backup, and hands them to a sink.
final class EntryReader {
    private let source: BackupSource
    private let progress: BackupProgress
    /// The first name of each file with several.
    private var firstNames: [FileIdentity: [UInt8]] = [:]
    private var buffer = [UInt8](repeating: 0, count: 1 << 20)

    private struct FileIdentity: Hashable {
        var device: UInt
        var inode: UInt
    }

    init(_ source: BackupSource, _ progress: BackupProgress) { (self.source, self.progress) = (source, progress) }

    /// nil if the entry is gone before anything of it was read.
    func read(_ entry: WalkedEntry, into sink: some EntrySink) throws(StoreError) -> ManifestEntry? {
        var record = EntryRecord(path: entry.path, kind: .directory)
        take(entry.status, &record)
        let file: FileDescriptor?
        do throws(Errno) {
            file = try complete(&record, entry)
        } catch .noEntry { return nil } catch { throw source.failure("it cannot be read", entry.path, error) }
        guard record.attributes.reduce(0, { $0 + $1.name.count + $1.value.count }) < Self.mostAttributes else {
            throw StoreError(
                "its extended attributes have more than 900 KiB in all, which an archive cannot hold",
                path: source.pathOf(entry.path), advice: "Remove some, or exclude it from backups.")
        }
        try sink.begin(record)
        guard let file else { return ManifestEntry(record, data: nil) }
        let checksum = try copy(file, record, into: sink)
        try checkUnchanged(file, entry)
        return ManifestEntry(record, data: checksum)
    }

    /// libarchive reads no header of more than 1 MiB.
    private static let mostAttributes = 900 << 10

    private func take(_ status: FileStatus, _ record: inout EntryRecord) {
        record.mode = status.st_mode & 0o7777
        (record.owner, record.group) = (status.st_uid, status.st_gid)
        (record.accessed, record.modified) = (status.st_atim, status.st_mtim)
    }

    /// Opens a file, and adds what is not in its status.
    private func complete(_ record: inout EntryRecord, _ entry: WalkedEntry) throws(Errno) -> FileDescriptor? {
        switch entry.kind {
        case S_IFLNK:
            record.kind = .symbolicLink
            record.mode = 0o777
            if let name = entry.name {
                record.link = try System.readLink(at: entry.folder.raw, name).map { UInt8(bitPattern: $0) }
                try takeTimes(&record, entry.status, entry.folder.raw, name)
            }
            return nil
        case S_IFREG where isFurtherName(entry, &record): return nil
        case S_IFREG:
            record.kind = .file
            record.size = Int64(entry.status.st_size)
            guard let name = entry.name else { return nil }
            let file: FileDescriptor
            (file, record.attributes) = try source.withAccess(to: name, in: entry.folder, entry.status) {
                () throws(Errno) in
                let file = try source.open(name, in: entry.folder, entry.status)
                try takeTimes(&record, entry.status, file.raw, nil)
                return (file, try attributes(file.raw, nil))
            }
            record.runs = try Self.runs(of: file.raw, size: record.size)
            return file
        default:
            record.attributes = try attributes(entry.folder.raw, entry.name)
            try takeTimes(&record, entry.status, entry.folder.raw, entry.name)
            return nil
        }
    }

    /// A mount has translated them already.
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

    /// A file that is in the backup under another name already is a hard link to that one.
    private func isFurtherName(_ entry: WalkedEntry, _ record: inout EntryRecord) -> Bool {
        guard entry.status.st_nlink > 1 else { return false }
        let identity = FileIdentity(device: UInt(entry.status.st_dev), inode: UInt(entry.status.st_ino))
        guard let first = firstNames[identity] else {
            firstNames[identity] = entry.path
            return false
        }
        record.kind = .hardLink
        record.link = first
        return true
    }

    /// Where there is data.
    private static func runs(of file: Int32, size: Int64) throws(Errno) -> [Range<Int64>] {
        var runs: [Range<Int64>] = []
        var offset: Int64 = 0
        do throws(Errno) {
            while offset < size {
                let start = try System.seek(file, offset, System.seekData)
                let end = min(size, try System.seek(file, start, System.seekHole))
                guard start < end else { break }
                runs.append(start..<end)
                offset = end
            }
        } catch .noSuchAddressOrDevice {} catch .invalid { return [0..<size] }
        return runs
    }

    private func copy(
        _ file: FileDescriptor, _ record: EntryRecord, into sink: some EntrySink
    ) throws(StoreError) -> Checksum {
        var checksum = Checksum()
        for run in record.runs {
            try sink.hole(run.lowerBound - checksum.count)
            checksum.addZeros(run.lowerBound - checksum.count)
            while checksum.count < run.upperBound {
                try copyChunk(file, upTo: run.upperBound, record, &checksum, into: sink)
                try progress.note(bytes: checksum.count)
            }
        }
        try sink.hole(record.size - checksum.count)
        checksum.addZeros(record.size - checksum.count)
        return checksum
    }

    private func copyChunk(
        _ file: FileDescriptor, upTo end: Int64, _ record: EntryRecord, _ checksum: inout Checksum,
        into sink: some EntrySink
    ) throws(StoreError) {
        let wanted = Int(min(Int64(buffer.count), end - checksum.count))
        let offset = checksum.count
        let count = try source.reading(record.path) { () throws(Errno) in
            try buffer.withUnsafeMutableBytes { bytes in
                Result { () throws(Errno) in
                    try System.pread(
                        file.raw, UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(wanted)), offset: offset)
                }
            }.get()
        }
        guard count > 0 else { throw changed(record.path) }
        try buffer.withUnsafeBytes { bytes in
            Result { () throws(StoreError) in
                let chunk = UnsafeRawBufferPointer(rebasing: bytes.prefix(count))
                try sink.data(chunk)
                checksum.add(chunk)
            }
        }.get()
    }

    /// Writes change the time of modification, and everything else that of the status.
    private func checkUnchanged(_ file: FileDescriptor, _ entry: WalkedEntry) throws(StoreError) {
        let now = try source.reading(entry.path) { () throws(Errno) in try System.status(file.raw) }
        let old = entry.status
        guard now.st_size == old.st_size, now.st_mtim.tv_sec == old.st_mtim.tv_sec,
            now.st_mtim.tv_nsec == old.st_mtim.tv_nsec
        else { throw changed(entry.path) }
    }

    func changed(_ path: [UInt8]) -> StoreError {
        StoreError(
            "it changed while it was being read", path: source.pathOf(path),
            advice: "Nothing of the backup was kept. Try again when no program writes to it, or unmount the container.")
    }
}
