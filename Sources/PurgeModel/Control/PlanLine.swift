/// One line of `storage.plan` and `storage.reclaim`: a purged file or share of others, or a named file that is not purged.
public struct PlanLine: Codable, Sendable {
    public var path: String?
    public var reason: String?
    public var bytes: ByteCount?
    public var refused: PurgeRefusal?
    /// True for a file that a purge truncates, or failed to truncate, and that keeps its name.
    public var tombstone: Bool?

    public init(path: [UInt8], reason: PurgeReason, bytes: ByteCount, leavesTombstone: Bool) {
        self.path = String(decoding: path, as: UTF8.self)
        (self.reason, self.bytes) = (reason.rawValue, bytes)
        if leavesTombstone { tombstone = true }
    }

    public init(fromOthers bytes: ByteCount) { (reason, self.bytes) = (PurgeReason.others.rawValue, bytes) }

    public init(refused path: [UInt8], _ cause: PurgeRefusal, leavesTombstone: Bool = false) {
        self.path = String(decoding: path, as: UTF8.self)
        refused = cause
        if cause == .failed, leavesTombstone { tombstone = true }
    }

    /// Creates the line for a purged file or share of others from its event.
    public init(_ event: Event) {
        (path, reason, bytes, tombstone) = (event.path, event.reason, event.bytes, event.tombstone)
    }
}
