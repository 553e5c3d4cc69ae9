/// Why an entry of a container is not in a backup (docs/BACKUP.md).
public enum BackupExclusion: String, CaseIterable, Codable, Sendable {
    /// It is `tmp`, or in it.
    case temporary
    /// It is `Library/Caches`, or in it.
    case caches
    /// `isExcludedFromBackup` is set, on it or on a folder above it.
    case excluded
    /// A socket, a FIFO or a device: no file, folder or symbolic link.
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

/// Whether an entry of a container is in a backup, from its place, its own flag and what is above it.
///
/// The flag that an item reports is only its own; what counts is its own flag, or that of any folder above it, or a
/// place that is never backed up.
public struct BackupPlacement: Hashable, Sendable {
    public let place: Place
    /// nil for an entry that is in the backup.
    public let exclusion: BackupExclusion?
    /// Whether the folder above it is in the backup, or is not there because it is the container itself.
    public let isFirst: Bool
    /// Whether its own flag is set although it changes nothing.
    public let isRedundantlyFlagged: Bool

    private init(_ place: Place, _ exclusion: BackupExclusion?, isFirst: Bool, isRedundantlyFlagged: Bool = false) {
        (self.place, self.exclusion, self.isFirst) = (place, exclusion, isFirst)
        self.isRedundantlyFlagged = isRedundantlyFlagged
    }

    /// The container itself.
    public static func root(isFlagged: Bool) -> BackupPlacement {
        BackupPlacement(.root, isFlagged ? .excluded : nil, isFirst: true)
    }

    /// An entry of a folder that has this placement. The place counts before the flag, because it cannot be changed.
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

    /// Whether a file with both names counts under this one: what is in the backup counts first, then what is more
    /// durable.
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
