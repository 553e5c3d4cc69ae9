import PurgeModel

/// The part of a node that changes, as `tree[node]` lends it for one expression.
///
/// Other modules have no other way to it, so they can only look at a node while they have its tree, and only change it while
/// they have the tree `inout`: in a volume, while they hold its lock. A value cannot be copied, stored or returned.
@frozen
public struct NodeState: ~Copyable {
    // Unmanaged: `Tree.subscript` keeps the node alive until the value is gone, so there is nothing to count.
    @usableFromInline let reference: Unmanaged<Node>

    // Unmanaged: no reference is counted, as for `reference`.
    @inlinable init(_ node: Node) { reference = Unmanaged.passUnretained(node) }
}

extension Tree {
    /// What changes about a node of the tree, or about one that is about to be inserted.
    // Transparent, because as a call it would cost more than what is read through it.
    @inlinable
    public subscript(node: Node) -> NodeState {
        @_transparent _read {
            yield NodeState(node)
            withExtendedLifetime(node) {}
        }
        @_transparent _modify {
            var state = NodeState(node)
            yield &state
            withExtendedLifetime(node) {}
        }
    }
}

// Place and use.
extension NodeState {
    /// The position of its ledger among the device's.
    @inlinable public var container: UInt8 { reference._withUnsafeGuaranteedRef { $0.container } }
    @inlinable public var standing: Standing { reference._withUnsafeGuaranteedRef { $0.standing } }
    /// How many descriptors and mappings are open.
    @inlinable public var opens: UInt32 { reference._withUnsafeGuaranteedRef { $0.opens } }
    /// How many references the kernel holds.
    @inlinable public var lookups: UInt32 { reference._withUnsafeGuaranteedRef { $0.lookups } }
    /// Whether another operation is changing its names or attributes now.
    @inlinable public var isHeld: Bool { reference._withUnsafeGuaranteedRef { $0.holds > 0 } }
    @inlinable public var lastUse: Instant { reference._withUnsafeGuaranteedRef { $0.lastUse } }
    /// When the file was made, by the device's clock.
    @inlinable public var creation: Instant { reference._withUnsafeGuaranteedRef { $0.creation } }
    public var age: PurgeAge { reference._withUnsafeGuaranteedRef { $0.age } }

    @inlinable var flags: NodeFlags { reference._withUnsafeGuaranteedRef { $0.flags } }
    /// The last name of a file or directory is gone.
    @inlinable public var isUnlinked: Bool { flags.contains(.unlinked) }
    /// A purge has chosen it, or `Tree.hold` says that a name of it is about to go.
    @inlinable public var isGoing: Bool { flags.contains(.purging) }
    /// It could not be removed from the store, and is not purged again in this mount.
    public var isStuck: Bool { flags.contains(.stuck) }
    /// Whether its blocks are in the ledger.
    public var isCounted: Bool { flags.contains(.counted) }

    /// The kernel must drop its pages at the next open: the file may have been changed behind its cache, or the next
    /// read must reach the backing file. This belongs to the volume's I/O, and no number follows from it.
    public var cacheIsStale: Bool {
        get { flags.contains(.cacheIsStale) }
        set { reference._withUnsafeGuaranteedRef { $0.flags.set(.cacheIsStale, to: newValue) } }
    }

    /// What the volume keeps about the node for its I/O.
    @inlinable public var attachment: AnyObject? { reference._withUnsafeGuaranteedRef { $0.attachment } }

    /// Sets `attachment`, once and for all.
    @inlinable
    public mutating func attach(_ object: AnyObject) {
        reference._withUnsafeGuaranteedRef { if $0.attachment == nil { $0.attachment = object } }
    }
}

// Names.
extension NodeState {
    /// The directory of the first name, nil once the last name is gone (and for the root).
    @inlinable public var parent: Node? { reference._withUnsafeGuaranteedRef { $0.parent } }
    @inlinable public var name: Name { reference._withUnsafeGuaranteedRef { $0.name } }
    public var hasSeveralNames: Bool { reference._withUnsafeGuaranteedRef { $0.hasSeveralNames } }
    /// How many names it has, at least one.
    public var nameCount: Int { reference._withUnsafeGuaranteedRef { $0.nameCount } }
    /// Of a directory.
    public var entries: [Name: Node] { reference._withUnsafeGuaranteedRef { $0.entries } }
    public func entry(named name: Name) -> Node? {
        reference._withUnsafeGuaranteedRef { $0.entry(named: name) }
    }
    /// Path in the container, without a leading slash.
    public func path() -> [Name] { reference._withUnsafeGuaranteedRef { $0.path() } }
}

// Charged blocks.
extension NodeState {
    /// Charged 4 KiB blocks, of a regular file.
    @inlinable public var blocks: Int64 { reference._withUnsafeGuaranteedRef { $0.blocks } }
    public var charged: ByteCount { reference._withUnsafeGuaranteedRef { $0.charged } }
    /// Whether its charge is its size: it has no holes, and no blocks past its end.
    public var isDense: Bool { reference._withUnsafeGuaranteedRef { $0.isDense } }
    /// The blocks that are charged, of a file that is not dense.
    public var extents: ExtentSet? { reference._withUnsafeGuaranteedRef { $0.extents } }
    /// Blocks of `range` that are not charged yet.
    public func missing(in range: Range<Int64>) -> Int64 {
        reference._withUnsafeGuaranteedRef { $0.missing(in: range) }
    }
    public func gaps(in range: Range<Int64>) -> ExtentSet { reference._withUnsafeGuaranteedRef { $0.gaps(in: range) } }
    /// The end of the longest beginning of `range` that misses at most `limit` blocks.
    public func prefixEnd(of range: Range<Int64>, missingAtMost limit: Int64) -> Int64 {
        reference._withUnsafeGuaranteedRef { $0.prefixEnd(of: range, missingAtMost: limit) }
    }
}

// Attributes of the entry itself, and the rules that follow from them.
extension NodeState {
    /// Its own isPurgeable.
    public var ownMark: PurgeMark? { reference._withUnsafeGuaranteedRef { $0.ownMark.mark } }
    /// Whether it has isExcludedFromBackup itself.
    public var ownExclusion: Bool { flags.contains(.ownExclusion) }
    /// Its own protection class. If it has none, that of the device applies.
    public var protection: FileProtection? { reference._withUnsafeGuaranteedRef { $0.protection } }
    /// The policy of a directory that has one.
    public var policy: DirectoryPolicy? { reference._withUnsafeGuaranteedRef { $0.policy } }
    /// Whether files in this directory belong to a policy: its own, or that of a directory above it.
    public var isUnderPolicy: Bool { reference._withUnsafeGuaranteedRef { $0.nearestPolicy != nil } }
    /// A directory's own values.
    public var behaviour: PurgeBehaviour { reference._withUnsafeGuaranteedRef { $0.behaviour } }

    /// Another call or purge is working on it now.
    public var isBusy: Bool { reference._withUnsafeGuaranteedRef { $0.isBusy } }
    /// Whether a purge empties it, and it keeps its name.
    public var leavesTombstone: Bool { reference._withUnsafeGuaranteedRef { $0.leavesTombstone } }
    /// Whether a purge has chosen it, and is to empty it.
    public var isEmptiedByPurge: Bool { reference._withUnsafeGuaranteedRef { $0.isEmptiedByPurge } }
    /// When a purge takes it, if one may; nil if it is not purgeable.
    public var purgeRank: PurgeRank? { reference._withUnsafeGuaranteedRef { $0.purgeRank } }
    /// The facts on which the rule of purging depends.
    public var purgeFacts: PurgeFacts { reference._withUnsafeGuaranteedRef { $0.purgeFacts } }
    /// The file as it is now, as a victim. Without a `reason`, its rule is why.
    public func victim(for reason: PurgeReason? = nil) -> Victim<Node> {
        let node = reference.takeUnretainedValue()
        return Victim(node, rank: node.purgeRank, age: node.age, reason: reason)
    }
    /// Whether a purge with this aim may take it.
    public func verdict(for aim: PurgeAim) -> PurgeVerdict {
        reference._withUnsafeGuaranteedRef { $0.verdict(for: aim) }
    }
}
