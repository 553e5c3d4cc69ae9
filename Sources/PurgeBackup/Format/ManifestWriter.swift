import PurgeStore
import PurgeSystem

/// Writes a manifest line by line, so that the whole manifest is never in memory (docs/BACKUP.md, The manifest).
final class ManifestWriter {
    private let file: FileDescriptor
    private let path: String
    private let isSpooled: Bool
    private var checksum = Checksum()
    private var buffer: [UInt8] = []
    private var separator = ""

    /// Writes the header. `path` is for messages: the path of the backup, or of the directory of a spool.
    init(
        _ header: BackupHeader, to file: FileDescriptor, path: String, isSpooled: Bool = false
    ) throws(StoreError) {
        (self.file, self.path, self.isSpooled) = (file, path, isSpooled)
        try put(JSONText.encode(header).dropLast() + ",\"entries\":[")
    }

    func add(_ entry: ManifestEntry) throws(StoreError) { try list(JSONText.encode(entry)) }

    func finish(_ omissions: [ManifestOmission], _ totals: ManifestTotals) throws(StoreError) {
        try put("\n],\"leftOut\":[")
        separator = ""
        for omission in omissions { try list(JSONText.encode(omission)) }
        try put("\n],\"totals\":\(JSONText.encode(totals)),\n")
        try flush()
        let end = "\"crc32\":\"\(checksum.text)\"}\n"
        try write(Array(end.utf8))
    }

    private func list(_ line: String) throws(StoreError) {
        guard line.utf8.count <= LineReader.longest else {
            throw StoreError(
                "the backup cannot be written: a path in it has more than 700 KiB", path: path,
                advice: "No part of the backup was kept. Rename or exclude the folders that are nested so deeply.")
        }
        try put(separator + "\n" + line)
        separator = ","
    }

    private func put(_ text: String) throws(StoreError) {
        buffer += Array(text.utf8)
        if buffer.count > 1 << 16 { try flush() }
    }

    private func flush() throws(StoreError) {
        checksum.add(buffer)
        try write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    private func write(_ bytes: [UInt8]) throws(StoreError) {
        do throws(Errno) {
            try file.writeAll(bytes)
        } catch {
            throw isSpooled
                ? Spool.failure("the manifest cannot be kept here", path, error)
                : .ofBackup("the backup cannot be written", path: path, error)
        }
    }
}
