import CArchive
import Glibc
import PurgeStore
import PurgeSystem

/// Reads a tar archive with libarchive. An attacker may have created the archive.
final class ArchiveReader {
    private let archive: OpaquePointer
    private var entry: OpaquePointer?
    private let input: ArchiveInput
    /// The offset at which the last entry ends; set when `next` returns nil.
    private var end: Int64 = 0
    /// The path for messages.
    let path: String

    /// The checksum of everything read so far; after `finish`, the checksum of the whole file.
    var seen: Checksum { input.seen }

    init(_ file: FileDescriptor, path: String, waitsForInput: Bool) throws(StoreError) {
        if let reason = archive_missing() { throw .withoutArchives("the backup cannot be read", path, reason) }
        guard let archive = archive_read_new() else {
            throw .failed("the backup cannot be read", path: path, Errno(ENOMEM))
        }
        self.archive = archive
        self.path = path
        input = ArchiveInput(file, path: path, waits: waitsForInput)
        archive_read_support_format_tar(archive)
        try check(input.open(archive))
    }

    deinit { archive_read_free(archive) }

    /// Advances to the next entry. Returns its name, byte for byte, or nil at the end.
    func next() throws(StoreError) -> [UInt8]? {
        let result = archive_read_next_header(archive, &entry)
        if result == ARCHIVE_EOF && input.failure == nil {
            end = archive_read_header_position(archive)
            return nil
        }
        try check(result)
        guard let entry, let name = archive_entry_pathname(entry) else {
            throw damaged("an entry of its archive has no name")
        }
        return Self.bytes(name)
    }

    /// Returns the current entry's record, with `path` as its path in the container. `path` has no slash at its end.
    func record(path: [UInt8]) throws(StoreError) -> EntryRecord {
        guard let entry else { throw damaged("an entry of its archive has no name") }
        var record = EntryRecord(path: path, kind: try kind(of: entry))
        record.mode = archive_entry_perm(entry) & 0o7777
        record.owner = uid_t(truncatingIfNeeded: archive_entry_uid(entry))
        record.group = gid_t(truncatingIfNeeded: archive_entry_gid(entry))
        record.accessed = timespec(
            tv_sec: Int(archive_entry_atime(entry)), tv_nsec: Int(archive_entry_atime_nsec(entry)))
        record.size = archive_entry_size(entry)
        switch record.kind {
        case .symbolicLink: record.link = archive_entry_symlink(entry).map(Self.bytes) ?? []
        case .hardLink: record.link = archive_entry_hardlink(entry).map(Self.bytes) ?? []
        case .file, .directory: record.attributes = attributes(of: entry)
        }
        return record
    }

    private func kind(of entry: OpaquePointer) throws(StoreError) -> EntryRecord.Kind {
        if archive_entry_hardlink(entry) != nil { return .hardLink }
        switch archive_entry_filetype(entry) {
        case S_IFREG: return .file
        case S_IFDIR: return .directory
        case S_IFLNK: return .symbolicLink
        default: throw damaged("an entry is neither a file nor a folder nor a link")
        }
    }

    private func attributes(of entry: OpaquePointer) -> [VisibleAttributes.Attribute] {
        var found: [VisibleAttributes.Attribute] = []
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var size = 0
        archive_entry_xattr_reset(entry)
        while archive_entry_xattr_next(entry, &name, &value, &size) == ARCHIVE_OK {
            guard let name else { continue }
            let bytes = Array(UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : size))
            found.append(.init(name: Self.withoutEscapes(Self.bytes(name)), value: bytes))
        }
        return found.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    /// Replaces escapes in an attribute's name. libarchive writes unusual bytes in the form `%41`, and does not decode this
    /// form when it reads.
    private static func withoutEscapes(_ name: [UInt8]) -> [UInt8] {
        var plain: [UInt8] = []
        var rest = name[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                plain.append(code)
                rest = rest.dropFirst(2)
            } else {
                plain.append(byte)
            }
        }
        return plain
    }

    /// Passes the data of the current entry to `body`, in order. A gap is a hole.
    func data(
        _ body: (UnsafeRawBufferPointer, Int64) throws(StoreError) -> Void
    ) throws(StoreError) {
        while true {
            var bytes: UnsafeRawPointer?
            var count = 0
            var offset: Int64 = 0
            let result = archive_read_data_block(archive, &bytes, &count, &offset)
            if result == ARCHIVE_EOF { return }
            try check(result)
            guard count > 0, let bytes else { continue }
            try body(UnsafeRawBufferPointer(start: bytes, count: count), offset)
        }
    }

    /// Reads the rest of the file after the last entry. The rest must consist of zeros, at least the 1024 that end every
    /// archive.
    func finish() throws(StoreError) {
        while try input.read() > 0 {}
        let rest = input.seen.count - end
        guard rest >= 1024 else { throw damaged("its archive was cut off") }
        guard input.zerosAtEnd >= rest else { throw damaged("something follows its archive") }
    }

    private func check(_ result: Int32) throws(StoreError) {
        // libarchive warns about names that are not text in the C locale, but returns their bytes. Other warnings do no harm,
        // because every entry is compared with the manifest.
        guard result != ARCHIVE_OK, result != ARCHIVE_WARN else { return }
        if let failure = input.failure { throw failure }
        // ARCHIVE_ERRNO_FILE_FORMAT, which libarchive does not publish.
        if entry == nil, archive_errno(archive) == EILSEQ {
            throw StoreError(
                "this is not a backup: it is no tar archive", path: path,
                advice: "If it was compressed, decompress it: zcat FILE | purgefs backup restore - STORE. "
                    + "Nothing was restored.")
        }
        let text = archive_error_string(archive).map { String(cString: $0) } ?? "libarchive does not say why"
        throw damaged("its archive cannot be read (\(text))")
    }

    func damaged(_ what: String) -> StoreError {
        StoreError("the backup is damaged: \(what)", path: path, advice: "Nothing was restored. Use another backup.")
    }

    private static func bytes(_ text: UnsafePointer<CChar>) -> [UInt8] {
        UnsafeRawBufferPointer(start: text, count: strlen(text)).map { $0 }
    }
}

/// The source of an archive's bytes.
private final class ArchiveInput {
    private let file: FileDescriptor
    private let path: String
    /// Whether reading may wait for another process. A signal must interrupt such a wait.
    private let waits: Bool
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 8)
    private(set) var seen = Checksum()
    private(set) var zerosAtEnd: Int64 = 0
    private(set) var failure: StoreError?

    init(_ file: FileDescriptor, path: String, waits: Bool) {
        (self.file, self.path, self.waits) = (file, path, waits)
    }

    deinit { buffer.deallocate() }

    func open(_ archive: OpaquePointer) -> Int32 {
        // Unmanaged: the reader that owns this object owns the archive, too, and frees it first.
        let myself = Unmanaged.passUnretained(self).toOpaque()
        return archive_read_open(
            archive, myself, nil,
            { _, myself, bytes in
                guard let myself else { return -1 }
                // Unmanaged: it is the pointer that was given to archive_read_open.
                return Unmanaged<ArchiveInput>.fromOpaque(myself).takeUnretainedValue().give(bytes)
            }, nil)
    }

    private func give(_ bytes: UnsafeMutablePointer<UnsafeRawPointer?>?) -> Int {
        do throws(StoreError) {
            let count = try read()
            bytes?.pointee = UnsafeRawPointer(buffer.baseAddress)
            return count
        } catch {
            failure = error
            return -1
        }
    }

    /// Reads the next bytes into the buffer. Returns their number, 0 at the end.
    func read() throws(StoreError) -> Int {
        do throws(Errno) {
            if waits, try !System.waitReadable(file.raw, or: .ending) { throw .interrupted }
            guard System.endSignal() == nil else { throw .interrupted }
            let count = try System.read(file.raw, buffer)
            let chunk = UnsafeRawBufferPointer(rebasing: buffer.prefix(count))
            seen.add(chunk)
            let zeros = chunk.reversed().prefix { $0 == 0 }.count
            zerosAtEnd = zeros == count ? zerosAtEnd + Int64(count) : Int64(zeros)
            return count
        } catch .interrupted {
            throw .interrupted(path)
        } catch { throw .failed("the backup cannot be read", path: path, error) }
    }
}
