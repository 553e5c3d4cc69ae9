import PurgeModel
import PurgeStore
import PurgeSystem

/// Reads a manifest line by line. An attacker may have created the manifest, so the length of lines is limited, and no entry is
/// used before the checksum of the whole manifest has been verified.
final class ManifestReader {
    let header: BackupHeader
    let totals: ManifestTotals
    private let file: FileDescriptor
    private let path: String
    private var lines: LineReader
    private var batch: ArraySlice<ManifestEntry> = []
    private var isAtEnd = false

    private static let batchSize = 256
    private static let entriesBegin = ",\"entries\":["
    private static let omissionsBegin = "],\"leftOut\":["
    private static let totalsBegin = "],\"totals\":"

    /// Verifies the checksum of the manifest, and reads its totals and its header. `file` must be seekable.
    init(_ file: FileDescriptor, path: String) throws(StoreError) {
        (self.file, self.path) = (file, path)
        totals = try Self.totals(Self.checkedTail(of: file, path), path)
        lines = LineReader(file, path: path)
        header = try Self.header(try lines.next(), path)
    }

    /// Returns the next entry; nil after the last.
    func nextEntry() throws(StoreError) -> ManifestEntry? {
        if batch.isEmpty && !isAtEnd { try fill() }
        return batch.popFirst()
    }

    /// Returns the next omission; nil at the end. The first call must come after `nextEntry` has returned nil.
    func nextOmission() throws(StoreError) -> ManifestOmission? {
        guard let line = try lines.next(), !line.hasPrefix(Self.totalsBegin) else { return nil }
        let omission = try Self.decode(ManifestOmission.self, Self.item(line), path)
        guard omission.bytes >= 0, omission.entries >= 0 else {
            throw Self.damaged(path, "something that was left out has a negative size")
        }
        return omission
    }

    private func fill() throws(StoreError) {
        var items: [String] = []
        var length = 0
        while items.count < Self.batchSize, length < LineReader.longest {
            guard let line = try lines.next() else { throw Self.damaged(path, "it ends too early") }
            guard line != Self.omissionsBegin else {
                isAtEnd = true
                break
            }
            items.append(Self.item(line))
            length += line.utf8.count
        }
        batch = try Self.decode([ManifestEntry].self, "[\(items.joined(separator: ","))]", path)[...]
    }

    private static func item(_ line: String) -> String { line.hasSuffix(",") ? String(line.dropLast()) : line }

    /// Verifies the checksum in the last line, and returns the line before it.
    private static func checkedTail(of file: FileDescriptor, _ path: String) throws(StoreError) -> String {
        var lines = LineReader(file, path: path)
        var checksum = Checksum()
        var (previous, last) = ("", "")
        while let line = try lines.next() {
            // The last line is not part of its own checksum.
            if lines.count > 1 { checksum.add(Array(last.utf8) + [UInt8(ascii: "\n")]) }
            (previous, last) = (last, line)
        }
        guard last.hasPrefix("\"crc32\":\""), lines.isComplete else {
            throw damaged(path, "it has no end: it was cut off, or is not a manifest of purgefs")
        }
        guard last == "\"crc32\":\"\(checksum.text)\"}" else { throw damaged(path, "its checksum is wrong") }
        return previous
    }

    private static func header(_ line: String?, _ path: String) throws(StoreError) -> BackupHeader {
        guard let line, line.hasSuffix(entriesBegin) else { throw damaged(path, "it does not begin like a manifest") }
        let text = line.dropLast(entriesBegin.count) + "}"
        let form = try decode(Form.self, String(text), path)
        guard form.kind == BackupHeader.kind else { throw damaged(path, "it was not written by `purgefs backup`") }
        guard form.version == BackupHeader.version else {
            throw StoreError(
                "the backup has format \(form.version), which this version of purgefs does not know", path: path,
                advice: "Nothing was restored. Use the purgefs that made it.")
        }
        let header = try decode(BackupHeader.self, String(text), path)
        do throws(DeviceFault) {
            try header.device.validate()
        } catch { throw damaged(path, "\(error.name): \(error.reason)") }
        // The UUID of the container and the date of the backup go into the journal of the new store.
        guard DeviceFault.isUUID(header.container) else { throw damaged(path, "container: it is not a UUID") }
        guard isDate(header.created) else { throw damaged(path, "created: it is not a date") }
        return header
    }

    /// Whether the text has the form of `Instant.iso8601`.
    private static func isDate(_ text: String) -> Bool {
        text.utf8.count == 24 && text.utf8.allSatisfy { "0123456789-:.TZ".utf8.contains($0) }
    }

    private static func totals(_ line: String, _ path: String) throws(StoreError) -> ManifestTotals {
        guard line.hasPrefix(totalsBegin) else { throw damaged(path, "its totals are missing") }
        return try decode(ManifestTotals.self, item(String(line.dropFirst(totalsBegin.count))), path)
    }

    private static func decode<Value: Decodable>(
        _ type: Value.Type, _ text: String, _ path: String
    ) throws(StoreError) -> Value {
        do { return try JSONText.decode(type, from: text) } catch { throw damaged(path, "it cannot be understood") }
    }

    static func damaged(_ path: String, _ why: String) -> StoreError {
        StoreError("the manifest is damaged: \(why)", path: path, advice: "Nothing was restored. Use another backup.")
    }

    private struct Form: Decodable {
        var kind: String
        var version: Int
    }
}
