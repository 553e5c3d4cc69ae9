/// What is true of a node, or not.
package struct NodeFlags: OptionSet, Sendable {
    package var rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The last name is gone.
    package static let unlinked = NodeFlags(rawValue: 1)
    /// A purge has chosen it; its name is about to go.
    package static let purging = NodeFlags(rawValue: 2)
    /// The store would not let go of it: not offered for purging again in this mount.
    package static let stuck = NodeFlags(rawValue: 4)
    /// `lastUse` has changed since it was last written to the journal.
    package static let useUnsaved = NodeFlags(rawValue: 8)
    /// It carries isExcludedFromBackup itself.
    package static let ownExclusion = NodeFlags(rawValue: 16)
    /// A directory that carries fileProtection, which new entries inherit.
    package static let ownProtection = NodeFlags(rawValue: 32)
    /// The kernel is to drop its pages at the next open: they may have been changed behind its
    /// cache, or a read that they would serve has to be seen.
    package static let cacheIsStale = NodeFlags(rawValue: 64)
    /// Its blocks are in the ledger's numbers.
    package static let counted = NodeFlags(rawValue: 128)
    /// Its blocks are in the number of what purging would give back.
    package static let reclaimable = NodeFlags(rawValue: 256)
    /// It has a name outside the container, so purging it would give nothing back.
    package static let linkedOutside = NodeFlags(rawValue: 512)
    /// It lies on another device than the container.
    package static let onOtherDevice = NodeFlags(rawValue: 1024)

    package mutating func set(_ flag: NodeFlags, to value: Bool) {
        if value { insert(flag) } else { remove(flag) }
    }
}
