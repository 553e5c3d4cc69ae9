import PurgeModel
import PurgeStore

/// One line of `storage.plan` and of `storage.reclaim`: what is purged, or a file that was named and is not purged.
public struct PlanLine: Codable, Sendable {
    public var path: String?
    public var reason: String?
    public var bytes: ByteCount?
    public var refused: PurgeRefusal?

    init(path: [UInt8]?, reason: PurgeReason, bytes: ByteCount) {
        self.path = path.map { String(decoding: $0, as: UTF8.self) }
        self.reason = reason.rawValue
        self.bytes = bytes
    }

    init(path: [UInt8], refused: PurgeRefusal) {
        self.path = String(decoding: path, as: UTF8.self)
        self.refused = refused
    }

    /// What was reported about a purge.
    init(_ event: Event) { (path, reason, bytes) = (event.path, event.reason, event.bytes) }

    var text: String { JSONText.encode(self) + "\n" }
}
