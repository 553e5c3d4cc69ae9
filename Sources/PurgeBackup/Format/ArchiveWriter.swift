import CArchive
import Glibc
import PurgeStore
import PurgeSystem

/// Receives the entries of a backup and their data, in order.
protocol EntrySink: AnyObject {
    func begin(_ record: EntryRecord) throws(StoreError)
    func data(_ bytes: UnsafeRawBufferPointer) throws(StoreError)
    func hole(_ length: Int64) throws(StoreError)
}

/// Discards everything, for a first pass that only computes checksums.
final class NoSink: EntrySink {
    func begin(_ record: EntryRecord) {}
    func data(_ bytes: UnsafeRawBufferPointer) {}
    func hole(_ length: Int64) {}
}

/// Writes a pax archive with libarchive.
final class ArchiveWriter: EntrySink {
    static let folder = "container"
    static let manifestName = "manifest.json"

    private let archive: OpaquePointer
    private let entry: OpaquePointer
    private let output: ArchiveOutput
    private let names = UTF8Names()
    /// Zeros to pass for a hole. libarchive skips them if it records the holes of the entry.
    private let zeros = [UInt8](repeating: 0, count: 1 << 20)

    var written: Checksum { output.written }

    /// Opens the archive. `path` is for messages.
    init(to file: FileDescriptor, path: String) throws(StoreError) {
        if let reason = archive_missing() { throw .withoutArchives("the backup cannot be written", path, reason) }
        guard let archive = archive_write_new(), let entry = archive_entry_new() else {
            throw .failed("the backup cannot be written", path: path, Errno(ENOMEM))
        }
        (self.archive, self.entry) = (archive, entry)
        output = ArchiveOutput(file, path: path)
        archive_write_set_format_pax(archive)
        archive_write_set_format_option(archive, "pax", "xattrheader", "SCHILY")
        archive_write_set_bytes_per_block(archive, 0)
        try check(output.open(archive))
    }

    deinit {
        archive_entry_free(entry)
        archive_write_free(archive)
    }

    /// Writes the manifest as the first file, beside the container's folder.
    func manifest(_ file: FileDescriptor) throws(StoreError) {
        let size: Int64
        do throws(Errno) {
            size = Int64(try System.status(file.raw).st_size)
        } catch { throw .failed("the manifest cannot be read", path: output.path, error) }
        archive_entry_clear(entry)
        archive_entry_copy_pathname(entry, Self.manifestName)
        archive_entry_set_filetype(entry, S_IFREG)
        archive_entry_set_perm(entry, 0o644)
        archive_entry_set_size(entry, size)
        try check(names.run { archive_write_header(archive, entry) })
        var offset: Int64 = 0
        while offset < size { offset += try copy(file, from: offset) }
    }

    private func copy(_ file: FileDescriptor, from offset: Int64) throws(StoreError) -> Int64 {
        let chunk: [UInt8]
        do throws(Errno) {
            chunk = try file.readSome(1 << 16, at: offset)
        } catch { throw .failed("the manifest cannot be read", path: output.path, error) }
        try chunk.withUnsafeBytes { bytes in
            Result { () throws(StoreError) in try data(bytes) }
        }.get()
        return Int64(max(chunk.count, 1))
    }

    func begin(_ record: EntryRecord) throws(StoreError) {
        archive_entry_clear(entry)
        archive_entry_copy_pathname(entry, PathForm.archived(record.path))
        archive_entry_set_perm(entry, record.mode)
        archive_entry_set_uid(entry, la_int64_t(record.owner))
        archive_entry_set_gid(entry, la_int64_t(record.group))
        archive_entry_set_mtime(entry, record.modified.tv_sec, record.modified.tv_nsec)
        archive_entry_set_atime(entry, record.accessed.tv_sec, record.accessed.tv_nsec)
        setKind(record)
        for attribute in record.attributes {
            attribute.value.withUnsafeBytes { value in
                archive_entry_xattr_add_entry(
                    entry, PathForm.raw(attribute.name), value.baseAddress, value.count)
            }
        }
        // libarchive warns of a name that is not UTF-8, and then writes its bytes unchanged.
        let isPlain = (record.path + record.link).allSatisfy { $0 < 0x80 }
        let result = names.run { archive_write_header(archive, entry) }
        try check(result, mayWarn: !isPlain)
    }

    private func setKind(_ record: EntryRecord) {
        switch record.kind {
        case .directory: archive_entry_set_filetype(entry, S_IFDIR)
        case .symbolicLink:
            archive_entry_set_filetype(entry, S_IFLNK)
            archive_entry_copy_symlink(entry, PathForm.raw(record.link))
        case .hardLink:
            archive_entry_set_filetype(entry, S_IFREG)
            archive_entry_copy_hardlink(entry, PathForm.archived(record.link))
        case .file:
            archive_entry_set_filetype(entry, S_IFREG)
            archive_entry_set_size(entry, record.size)
            guard record.hasHoles, record.canKeepHoles else { return }
            for run in record.runs { archive_entry_sparse_add_entry(entry, run.lowerBound, Int64(run.count)) }
            // An empty run marks a hole at the end, which may be the whole file.
            if record.runs.last?.upperBound != record.size { archive_entry_sparse_add_entry(entry, record.size, 0) }
        }
    }

    func data(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = archive_write_data(archive, rest.baseAddress, rest.count)
            guard count > 0 else { throw failure }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
    }

    func hole(_ length: Int64) throws(StoreError) {
        var rest = length
        while rest > 0 {
            let count = Int(min(rest, Int64(zeros.count)))
            try zeros.withUnsafeBytes { bytes in
                Result { () throws(StoreError) in try data(UnsafeRawBufferPointer(rebasing: bytes.prefix(count))) }
            }.get()
            rest -= Int64(count)
        }
    }

    func close() throws(StoreError) {
        try check(archive_write_close(archive))
        do throws(Errno) { try output.flush() } catch { throw output.failure(error) }
    }

    private func check(_ result: Int32, mayWarn: Bool = false) throws(StoreError) {
        guard result == ARCHIVE_OK || (result == ARCHIVE_WARN && mayWarn) else { throw failure }
    }

    private var failure: StoreError {
        if let error = output.error { return output.failure(error) }
        let text = archive_error_string(archive).map { String(cString: $0) } ?? "libarchive does not say why"
        return StoreError(
            "the backup cannot be written: \(text)", path: output.path, advice: "No part of the backup was kept.")
    }
}

/// The destination of an archive's bytes.
private final class ArchiveOutput {
    let path: String
    private let file: FileDescriptor
    private var buffer: [UInt8] = []
    private(set) var written = Checksum()
    /// The error of the first write that failed.
    private(set) var error: Errno?

    init(_ file: FileDescriptor, path: String) { (self.file, self.path) = (file, path) }

    func open(_ archive: OpaquePointer) -> Int32 {
        // Unmanaged: the writer that owns this object owns the archive, too, and frees it first.
        let myself = Unmanaged.passUnretained(self).toOpaque()
        return archive_write_open(
            archive, myself, nil,
            { archive, myself, bytes, count in
                guard let myself else { return -1 }
                // Unmanaged: it is the pointer that was given to archive_write_open.
                let output = Unmanaged<ArchiveOutput>.fromOpaque(myself).takeUnretainedValue()
                return output.take(UnsafeRawBufferPointer(start: bytes, count: count))
            }, nil)
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
        buffer += bytes
        guard buffer.count >= 1 << 18 else { return bytes.count }
        do throws(Errno) {
            try flush()
            return bytes.count
        } catch {
            self.error = error
            return -1
        }
    }

    func flush() throws(Errno) {
        written.add(buffer)
        try file.writeAll(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    func failure(_ error: Errno) -> StoreError {
        var failure = StoreError.ofBackup("the backup cannot be written", path: path, error)
        failure.advice += " No part of the backup was kept."
        return failure
    }
}
