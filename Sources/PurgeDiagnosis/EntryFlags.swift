import PurgeModel

/// The flags that an entry of a container has itself, as its attributes say.
struct EntryFlags: Hashable, Sendable {
    var mark: PurgeMark?
    /// nil if it is not set.
    var isExcluded: Bool?
    var protection: FileProtection?
    /// Of a folder.
    var policy = DirectoryPolicy()
    var behaviour = PurgeBehaviour()

    private static let names = Dictionary(uniqueKeysWithValues: StorageAttribute.allCases.map { ($0.storeKey, $0) })

    /// An attribute by its whole name; others are passed over, and a bad value counts as none.
    mutating func set(_ name: String, to value: String) {
        guard let attribute = Self.names[name] else { return }
        switch attribute {
        case .isPurgeable: mark = PurgeMark(text: value)
        case .isExcludedFromBackup: isExcluded = value == "1" ? true : value == "0" ? false : nil
        case .fileProtection: protection = FileProtection(text: value)
        case .purgeAfter, .sizeLimit: policy.set(attribute, to: value)
        case .purgeGroup, .purgeTombstone: behaviour.set(attribute, to: value)
        }
    }
}

/// What applies to an entry of a container: its place, its own flags, and what it has from the folders above it.
struct EntryStanding: Hashable, Sendable {
    /// Something that a folder says about what is below it.
    struct Inherited<Value: Hashable & Sendable>: Hashable, Sendable {
        var value: Value
        /// The folder that says it, relative to the container; empty for the container itself.
        var from: String
    }

    let placement: BackupPlacement
    /// Its own.
    let flags: EntryFlags
    /// The protection class that the folder above it has itself.
    let folderProtection: FileProtection?
    /// The mark of the nearest folder above it that has one.
    let folderMark: Inherited<PurgeMark>?
    /// The topmost folder above it that takes it out of the backup.
    let excludedBy: String?
    /// The policy of the nearest folder above it that has one.
    let policy: Inherited<DirectoryPolicy>?
    /// The nearest folder above it whose files are purged as one.
    let group: String?
    let leavesTombstones: Bool

    private init(
        _ placement: BackupPlacement, _ flags: EntryFlags, below above: (standing: EntryStanding, path: String)?
    ) {
        (self.placement, self.flags) = (placement, flags)
        guard let above else {
            (folderProtection, folderMark, excludedBy, policy, group, leavesTombstones) = (
                nil, nil, nil, nil, nil, false
            )
            return
        }
        let (folder, path) = above
        let own = folder.flags
        folderProtection = own.protection
        folderMark = own.mark.map { Inherited(value: $0, from: path) } ?? folder.folderMark
        excludedBy = folder.excludedBy ?? (own.isExcluded == true ? path : nil)
        policy = own.policy.isEmpty ? folder.policy : Inherited(value: own.policy, from: path)
        group = own.behaviour.isGroup.map { $0 ? path : nil } ?? folder.group
        leavesTombstones = own.behaviour.leavesTombstones ?? folder.leavesTombstones
    }

    /// The container itself.
    static func root(_ flags: EntryFlags) -> EntryStanding {
        EntryStanding(.root(isFlagged: flags.isExcluded == true), flags, below: nil)
    }

    /// An entry of the folder at `path` that has this standing.
    func entry(
        named name: some Sequence<UInt8>, in path: String, _ flags: EntryFlags, isSpecial: Bool = false
    ) -> EntryStanding {
        let placement = placement.entry(named: name, isFlagged: flags.isExcluded == true, isSpecial: isSpecial)
        return EntryStanding(placement, flags, below: (self, path))
    }

    var tier: Tier { placement.place.tier }

    /// The mark that counts for a file; with several names it has only its own.
    func mark(hasSeveralNames: Bool) -> PurgeMark? {
        flags.mark ?? (hasSeveralNames ? nil : folderMark?.value)
    }

    /// Why a file may go without the app asking for it; nil if nothing may take it.
    func reasonToGo(hasSeveralNames: Bool) -> PurgeReason? {
        if hasSeveralNames { return nil }
        switch tier {
        case .temporary: return .temporary
        case .caches: return .caches
        case .persistent: break
        }
        if mark(hasSeveralNames: false)?.urgency != nil { return .purgeable }
        guard let policy = policy?.value else { return nil }
        if (policy.purgeAfter?.seconds ?? 0) > 0 { return .policyAge }
        return (policy.sizeLimit ?? .zero) > .zero ? .policySize : nil
    }
}
