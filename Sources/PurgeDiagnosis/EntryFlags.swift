import PurgeModel

/// The flags that an entry's own attributes set.
struct EntryFlags: Hashable, Sendable {
    var mark: PurgeMark?
    /// The flag isExcludedFromBackup; nil if it is not set.
    var isExcluded: Bool?
    var protection: FileProtection?
    /// The policy of a folder.
    var policy = DirectoryPolicy()
    var behaviour = PurgeBehaviour()

    private static let names = Dictionary(uniqueKeysWithValues: StorageAttribute.allCases.map { ($0.storeKey, $0) })

    /// Sets a flag from an attribute's full name. Ignores other attributes, and treats an invalid value as unset.
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

/// The effective rules for an entry: its place, its own flags, and the flags inherited from its ancestor folders.
struct EntryStanding: Hashable, Sendable {
    /// A value that a folder sets for everything below it.
    struct Inherited<Value: Hashable & Sendable>: Hashable, Sendable {
        var value: Value
        /// The folder that sets the value, relative to the container; empty for the container itself.
        var from: String
    }

    let placement: BackupPlacement
    /// The entry's own flags.
    let flags: EntryFlags
    /// The protection class set on the parent folder itself.
    let folderProtection: FileProtection?
    /// The mark of the nearest marked ancestor folder.
    let folderMark: Inherited<PurgeMark>?
    /// The topmost ancestor folder whose own flag excludes the entry from the backup.
    let excludedBy: String?
    /// The policy of the nearest ancestor folder with a policy.
    let policy: Inherited<DirectoryPolicy>?
    /// The nearest ancestor folder that sets purgeGroup, if it turns grouping on: the files below it are purged as one.
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

    /// Returns the rules for the container itself.
    static func root(_ flags: EntryFlags) -> EntryStanding {
        EntryStanding(.root(isFlagged: flags.isExcluded == true), flags, below: nil)
    }

    /// Returns the rules for an entry of the folder at `path`; `self` holds the folder's rules.
    func entry(
        named name: some Sequence<UInt8>, in path: String, _ flags: EntryFlags, isSpecial: Bool = false
    ) -> EntryStanding {
        let placement = placement.entry(named: name, isFlagged: flags.isExcluded == true, isSpecial: isSpecial)
        return EntryStanding(placement, flags, below: (self, path))
    }

    var tier: Tier { placement.place.tier }

    /// Returns the effective mark; a hard-linked file does not inherit one.
    func mark(hasSeveralNames: Bool) -> PurgeMark? {
        flags.mark ?? (hasSeveralNames ? nil : folderMark?.value)
    }

    /// Returns the reason why a file may be purged without the app asking; nil if no purge may take it.
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
