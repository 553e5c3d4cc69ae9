/// The attributes that an app can set (docs/XATTRS.md), by the part after `user.purgefs.`.
public enum StorageAttribute: String, CaseIterable, Sendable {
    case isPurgeable, isExcludedFromBackup, fileProtection, purgeAfter, sizeLimit, purgeGroup, purgeTombstone

    /// What all names of our own begin with.
    @inlinable public static var prefix: StaticString { "user.purgefs." }

    /// The whole name, for apps and in the store.
    public var storeKey: String { Self.prefix.description + rawValue }

    /// What the store keeps for `text`, which is also the form in which it reads back; nil for a bad value.
    public func canonical(_ text: some StringProtocol) -> String? {
        switch self {
        case .isPurgeable: PurgeMark(text: text)?.text
        case .isExcludedFromBackup, .purgeGroup, .purgeTombstone: text == "0" || text == "1" ? String(text) : nil
        case .fileProtection: FileProtection(text: text)?.appleName
        case .purgeAfter: TimeSpan(purgeAfter: text).map { $0.seconds == 0 ? "0" : $0.text }
        case .sizeLimit: (ByteCount(text: text)?.bytes).map { String($0) }
        }
    }

    /// It is a part of a directory policy.
    public var isOfPolicy: Bool { self == .purgeAfter || self == .sizeLimit }

    /// The other attributes can be set on files too.
    public var isForDirectoriesOnly: Bool { isOfPolicy || self == .purgeGroup || self == .purgeTombstone }
}

/// The attributes that are computed when they are read (docs/XATTRS.md).
public enum ComputedAttribute: String, CaseIterable, Sendable {
    case volumeTotalCapacity, volumeAvailableCapacity, volumeAvailableCapacityForImportantUsage,
        volumeAvailableCapacityForOpportunisticUsage, fileAllocatedSize, totalFileAllocatedSize, creationDate, tier
}
