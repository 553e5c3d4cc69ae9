/// Why a backup leaves out an entry of a container (docs/BACKUP.md).
public enum BackupExclusion: String, CaseIterable, Codable, Sendable {
    /// The entry is `tmp`, or in it.
    case temporary
    /// The entry is `Library/Caches`, or in it.
    case caches
    /// The entry or a folder above it has `isExcludedFromBackup`.
    case excluded
    /// The entry is a socket, a FIFO or a device.
    case special

    public var inWords: String {
        switch self {
        case .temporary: "tmp"
        case .caches: "Library/Caches"
        case .excluded: "excluded"
        case .special: "neither a file nor a folder nor a link"
        }
    }
}

/// Decides whether an entry of a container is in a backup.
///
/// An entry's attribute shows only the flag of that entry. A backup leaves an entry out if the entry or any folder above it has
/// the flag, if its place is never backed up, or if it is a socket, a FIFO or a device.
public struct BackupPlacement: Hashable, Sendable {
    public let place: Place
    /// Why the backup leaves the entry out; nil for an entry in the backup.
    public let exclusion: BackupExclusion?
    /// Whether the parent folder is in the backup; true for the container itself, which has no parent.
    public let isFirst: Bool
    /// Whether the entry's own flag is set although a folder above or the place already excludes the entry.
    public let isRedundantlyFlagged: Bool

    private init(_ place: Place, _ exclusion: BackupExclusion?, isFirst: Bool, isRedundantlyFlagged: Bool = false) {
        (self.place, self.exclusion, self.isFirst) = (place, exclusion, isFirst)
        self.isRedundantlyFlagged = isRedundantlyFlagged
    }

    /// Returns the placement of the container itself.
    public static func root(isFlagged: Bool) -> BackupPlacement {
        BackupPlacement(.root, isFlagged ? .excluded : nil, isFirst: true)
    }

    /// Returns the placement of an entry in a folder with this placement. An exclusion of the folder comes first. The place
    /// takes precedence over the entry's flag, because no app can change the rule of a place.
    public func entry(
        named name: some Sequence<UInt8>, isFlagged: Bool, isSpecial: Bool = false
    ) -> BackupPlacement {
        let inner = place.entry(named: name)
        let byPlace = Self.exclusion(of: inner.tier)
        let exclusion = exclusion ?? byPlace ?? (isFlagged ? .excluded : isSpecial ? .special : nil)
        return BackupPlacement(
            inner, exclusion, isFirst: self.exclusion == nil,
            isRedundantlyFlagged: isFlagged && (self.exclusion ?? byPlace) != nil)
    }

    /// Returns whether a file with names in both placements counts under this one. A name in the backup wins, then the name in
    /// the more durable place.
    func counts(before other: BackupPlacement) -> Bool {
        if (exclusion == nil) != (other.exclusion == nil) { return exclusion == nil }
        return place.tier != other.place.tier && (place.tier == .persistent || other.place.tier == .temporary)
    }

    private static func exclusion(of tier: Tier) -> BackupExclusion? {
        switch tier {
        case .temporary: .temporary
        case .caches: .caches
        case .persistent: nil
        }
    }
}
