/// The attributes that an app can set (docs/XATTRS.md), by the part of their name after `user.purgefs.`.
public enum StorageAttribute: String, CaseIterable, Sendable {
    case isPurgeable, isExcludedFromBackup, fileProtection, purgeAfter, sizeLimit, purgeGroup, purgeTombstone

    /// The prefix of all our attribute names.
    @inlinable public static var prefix: StaticString { "user.purgefs." }

    /// The full name, for apps and in the store.
    public var storeKey: String { Self.prefix.description + rawValue }

    /// Returns `text` in the form that the store keeps and an app reads back, or nil for a malformed value.
    public func canonical(_ text: some StringProtocol) -> String? {
        switch self {
        case .isPurgeable: PurgeMark(text: text)?.text
        case .isExcludedFromBackup, .purgeGroup, .purgeTombstone: text == "0" || text == "1" ? String(text) : nil
        case .fileProtection: FileProtection(text: text)?.appleName
        case .purgeAfter: TimeSpan(purgeAfter: text).map { $0.seconds == 0 ? "0" : $0.text }
        case .sizeLimit: (ByteCount(text: text)?.bytes).map { String($0) }
        }
    }

    /// Whether the attribute is part of a directory policy.
    public var isOfPolicy: Bool { self == .purgeAfter || self == .sizeLimit }

    /// Whether only directories can have the attribute.
    public var isForDirectoriesOnly: Bool { isOfPolicy || self == .purgeGroup || self == .purgeTombstone }
}
