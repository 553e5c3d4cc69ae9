import FoundationEssentials
import Glibc
import PurgeModel
import PurgeStore

/// The first line of a manifest (docs/BACKUP.md, The manifest).
struct BackupHeader: Codable, Sendable {
    static let version = 1
    static let kind = "purgefs backup"

    var kind = Self.kind
    var version = Self.version
    /// When the backup was created, in the device's time; ISO 8601.
    var created: String
    /// The UUID of the container.
    var container: String
    /// The store that the backup was created from.
    var source: String
    /// The settings and state of the device.
    var device: Device

    init(created: String, container: String, source: String, device: Device) {
        (self.created, self.container, self.source, self.device) = (created, container, source, device)
    }
}

/// An entry in the backup.
struct ManifestEntry: Codable, Hashable {
    var path: String?
    /// Replaces `path` if the path is not UTF-8.
    var pathBase64: String?
    var type: EntryRecord.Kind
    /// Seconds since 1970, with nine decimals.
    var modified: String
    var size: Int64?
    /// The checksum of the data, with zeros for holes.
    var crc32: String?
    var metadata: String
    /// Offset and length of each run of data, for a file whose holes are zeros in the archive.
    var runs: [[Int64]]?

    init(_ record: EntryRecord, data: Checksum?) {
        (path, pathBase64) = ManifestPath.encoded(record.path)
        type = record.kind
        modified = Timestamp.text(record.modified)
        size = data?.count
        crc32 = data?.text
        metadata = record.metadata.text
        if record.hasHoles && !record.canKeepHoles && record.runs.count <= Self.mostRuns {
            runs = record.runs.map { [$0.lowerBound, Int64($0.count)] }
        }
    }

    /// The maximum number of runs in a line. The holes of a file with more runs stay zeros when it is restored.
    private static let mostRuns = 10_000

    var bytes: [UInt8]? { ManifestPath.decoded(path, pathBase64) }
}

/// An entry left out of the backup. A folder stands for everything in it.
struct ManifestOmission: Codable, Hashable {
    var path: String?
    var pathBase64: String?
    var reason: BackupExclusion
    /// The total size of the omitted files.
    var bytes: Int64 = 0
    /// The number of entries for which this omission stands.
    var entries: Int64 = 0

    init(_ path: [UInt8], _ reason: BackupExclusion) {
        (self.path, pathBase64) = ManifestPath.encoded(path)
        self.reason = reason
    }
}

/// The totals of a manifest, in the line before its checksum.
struct ManifestTotals: Codable, Hashable {
    var entries: Int64 = 0
    /// The sizes of the files in the backup, each counted once.
    var bytes: Int64 = 0
    var leftOut: Int64 = 0
    var leftOutBytes: Int64 = 0
    /// The checksum of data.tar; nil in a stream, which begins with the manifest.
    var archive: Archive?

    struct Archive: Codable, Hashable {
        var bytes: Int64
        var crc32: String
    }
}

/// The form of a path in a manifest; `.` stands for the container itself.
enum ManifestPath {
    static func encoded(_ path: [UInt8]) -> (text: String?, base64: String?) {
        if path.isEmpty { return (".", nil) }
        let text = String(validating: path, as: UTF8.self)
        return (text, text == nil ? JSONText.base64(path) : nil)
    }

    static func decoded(_ text: String?, _ base64: String?) -> [UInt8]? {
        if text != nil && base64 != nil { return nil }
        if let text { return text == "." ? [] : Array(text.utf8) }
        return base64.flatMap { JSONText.bytes(base64: $0) }
    }
}

/// A time in the form used by a manifest: `1700000000.000000001`.
enum Timestamp {
    static func text(_ time: timespec) -> String {
        let digits = String(time.tv_nsec)
        return "\(time.tv_sec)." + String(repeating: "0", count: max(0, 9 - digits.count)) + digits
    }

    /// Parses a time that `text` wrote; returns nil for a malformed string.
    static func reading(_ text: String) -> timespec? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count == 9, let seconds = Int(parts[0]), let rest = Int(parts[1]),
            rest >= 0
        else { return nil }
        return timespec(tv_sec: seconds, tv_nsec: rest)
    }
}
