/// The order of files with the same rank: least recently used first, then larger. Between equal ages, callers compare the
/// paths.
public struct PurgeAge: Hashable, Comparable, Sendable {
    public var lastUse: Instant
    public var charged: ByteCount

    public init(lastUse: Instant, charged: ByteCount) {
        self.lastUse = lastUse
        self.charged = charged
    }

    public static func < (a: PurgeAge, b: PurgeAge) -> Bool {
        a.lastUse != b.lastUse ? a.lastUse < b.lastUse : a.charged > b.charged
    }
}
