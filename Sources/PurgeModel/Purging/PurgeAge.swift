/// Orders files of one rank: least recently used first, then larger. Files that are
/// equal in both are ordered by path, which is compared only then.
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
