/// The record in the journal that a backup of the container was created.
public struct BackupNote: Hashable, Sendable {
    /// The total size of the files in the backup.
    public var bytes: ByteCount
    /// The number of entries in the backup; `leftOut` counts the other entries of the container.
    public var entries: Int64
    public var leftOut: Int64

    public init(bytes: ByteCount, entries: Int64, leftOut: Int64) {
        (self.bytes, self.entries, self.leftOut) = (bytes, entries, leftOut)
    }

    /// Parses `BYTES ENTRIES LEFTOUT`, three decimal numbers. Returns nil for anything else, and for a number beyond Int64.
    public init?(text: some StringProtocol) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let numbers = words.compactMap { word in
            word.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int64(word) : nil
        }
        guard words.count == 3, numbers.count == 3 else { return nil }
        self.init(bytes: ByteCount(numbers[0]), entries: numbers[1], leftOut: numbers[2])
    }

    public var text: String { "\(bytes.bytes) \(entries) \(leftOut)" }

    public func event(at now: Instant, by pid: Int32) -> Event {
        Event(
            time: now.iso8601, type: .backup, bytes: bytes, reason: "\(entries) entries, \(leftOut) left out", pid: pid)
    }
}
