/// Properties of a node.
package struct NodeFlags: OptionSet, Sendable {
    package var rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The last name is gone.
    package static let unlinked = NodeFlags(rawValue: 1)
    /// A purge has chosen it; its name is about to be removed.
    package static let purging = NodeFlags(rawValue: 2)
    /// It could not be removed from the store, and is not offered for purging again in this mount.
    package static let stuck = NodeFlags(rawValue: 4)
    /// `lastUse` has changed since it was last written to the journal.
    package static let useUnsaved = NodeFlags(rawValue: 8)
    /// It has isExcludedFromBackup itself.
    package static let ownExclusion = NodeFlags(rawValue: 16)
    /// A directory with fileProtection, which new entries inherit.
    package static let ownProtection = NodeFlags(rawValue: 32)
    /// The kernel must drop its pages at the next open: the file may have been changed behind its
    /// cache, or the next read must reach the backing file.
    package static let cacheIsStale = NodeFlags(rawValue: 64)
    /// Its blocks are in the ledger's numbers.
    package static let counted = NodeFlags(rawValue: 128)
    /// Its blocks are in the number of reclaimable bytes.
    package static let reclaimable = NodeFlags(rawValue: 256)
    /// It has a name outside the container, so purging it would free nothing.
    package static let linkedOutside = NodeFlags(rawValue: 512)
    /// It is on another device than the container.
    package static let onOtherDevice = NodeFlags(rawValue: 1024)

    package mutating func set(_ flag: NodeFlags, to value: Bool) {
        if value { insert(flag) } else { remove(flag) }
    }
}
