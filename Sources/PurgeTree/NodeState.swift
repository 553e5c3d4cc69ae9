import PurgeModel

/// The mutable part of a node, which `tree[node]` lends for one expression.
///
/// Other modules have no other access to a node's state. So they can read it only while they have the node's tree, and change
/// it only while they have the tree `inout`: in a volume, while they hold its lock. A value cannot be copied or sent, so a
/// closure that is lent the tree cannot return it. The house check ensures that no variable outside of such a closure keeps it.
@frozen
public struct NodeState: ~Copyable {
    // Unmanaged: while a tree is lent, nothing else changes it, and it holds its nodes. A node that is in no tree is held by
    // the code that names it.
    @usableFromInline let reference: Unmanaged<Node>

    // Unmanaged: takes no reference, for the reason given at `reference`.
    @inlinable init(_ node: Node) { reference = Unmanaged.passUnretained(node) }
}

@available(*, unavailable)
extension NodeState: Sendable {}

extension Tree {
    /// The mutable state of a node in the tree, or of one that is about to be inserted.
    // Transparent, because a call would copy the tree.
    @inlinable
    public subscript(node: Node) -> NodeState {
        @_transparent get { NodeState(node) }
        @_transparent _modify {
            var state = NodeState(node)
            yield &state
        }
    }
}

// Place and use.
extension NodeState {
    /// Index of the node's ledger in the device.
    @inlinable public var container: UInt8 { reference._withUnsafeGuaranteedRef { $0.container } }
    @inlinable public var standing: Standing { reference._withUnsafeGuaranteedRef { $0.standing } }
    /// Number of open descriptors and mappings.
    @inlinable public var opens: UInt32 { reference._withUnsafeGuaranteedRef { $0.opens } }
    /// Number of references that the kernel holds.
    @inlinable public var lookups: UInt32 { reference._withUnsafeGuaranteedRef { $0.lookups } }
    /// Whether an operation is changing the node's names or attributes, or a purge is about to truncate the file.
    @inlinable public var isHeld: Bool { reference._withUnsafeGuaranteedRef { $0.holds > 0 } }
    @inlinable public var lastUse: Instant { reference._withUnsafeGuaranteedRef { $0.lastUse } }
    /// Creation time of the file by the device's clock.
    @inlinable public var creation: Instant { reference._withUnsafeGuaranteedRef { $0.creation } }
    public var age: PurgeAge { reference._withUnsafeGuaranteedRef { $0.age } }

    @inlinable var flags: NodeFlags { reference._withUnsafeGuaranteedRef { $0.flags } }
    /// Whether the last name of the file or directory is gone.
    @inlinable public var isUnlinked: Bool { flags.contains(.unlinked) }
    /// Whether a purge has chosen the node, or the node is held because one of its names is about to be removed.
    @inlinable public var isGoing: Bool { flags.contains(.purging) }
    /// Whether a purge failed to remove or truncate the file. In this mount, only a command that names the file tries again.
    public var isStuck: Bool { flags.contains(.stuck) }
    /// Whether the ledger includes the file's blocks.
    public var isCounted: Bool { flags.contains(.counted) }

    /// Whether the kernel must drop the file's pages at the next open: the file may have changed behind its cache, or the
    /// next read must reach the backing file. The flag belongs to the volume's I/O, and no number depends on it.
    public var cacheIsStale: Bool {
        get { flags.contains(.cacheIsStale) }
        set { reference._withUnsafeGuaranteedRef { $0.flags.set(.cacheIsStale, to: newValue) } }
    }

    /// State that the volume keeps for I/O on the node.
    @inlinable public var attachment: AnyObject? { reference._withUnsafeGuaranteedRef { $0.attachment } }

    /// Sets `attachment`, which then stays: later calls have no effect.
    @inlinable
    public mutating func attach(_ object: AnyObject) {
        reference._withUnsafeGuaranteedRef { if $0.attachment == nil { $0.attachment = object } }
    }
}

// Names.
extension NodeState {
    /// The directory of `name`; nil for a root, and once the last name is gone.
    @inlinable public var parent: Node? { reference._withUnsafeGuaranteedRef { $0.parent } }
    @inlinable public var name: Name { reference._withUnsafeGuaranteedRef { $0.name } }
    public var hasSeveralNames: Bool { reference._withUnsafeGuaranteedRef { $0.hasSeveralNames } }
    /// Number of names; 1 even if the last name is gone.
    public var nameCount: Int { reference._withUnsafeGuaranteedRef { $0.nameCount } }
    /// Entries of a directory; empty for any other node.
    public var entries: [Name: Node] { reference._withUnsafeGuaranteedRef { $0.entries } }
    public func entry(named name: Name) -> Node? {
        reference._withUnsafeGuaranteedRef { $0.entry(named: name) }
    }
    /// Returns the path in the container, without a leading slash.
    public func path() -> [Name] { reference._withUnsafeGuaranteedRef { $0.path() } }
}

// Charged blocks.
extension NodeState {
    /// Charged 4 KiB blocks of a regular file.
    @inlinable public var blocks: Int64 { reference._withUnsafeGuaranteedRef { $0.blocks } }
    public var charged: ByteCount { reference._withUnsafeGuaranteedRef { $0.charged } }
    /// Whether the charge equals the size: the file has no holes, and no blocks past its end.
    public var isDense: Bool { reference._withUnsafeGuaranteedRef { $0.isDense } }
    /// Charged blocks of a file that is not dense; nil for a dense file.
    public var extents: ExtentSet? { reference._withUnsafeGuaranteedRef { $0.extents } }
    /// Returns the number of blocks in `range` that are not charged yet.
    public func missing(in range: Range<Int64>) -> Int64 {
        reference._withUnsafeGuaranteedRef { $0.missing(in: range) }
    }
    public func gaps(in range: Range<Int64>) -> ExtentSet { reference._withUnsafeGuaranteedRef { $0.gaps(in: range) } }
    /// Returns the end of the longest prefix of `range` in which at most `limit` blocks are not charged.
    public func prefixEnd(of range: Range<Int64>, missingAtMost limit: Int64) -> Int64 {
        reference._withUnsafeGuaranteedRef { $0.prefixEnd(of: range, missingAtMost: limit) }
    }
}

// The entry's own attributes, and the rules that follow from them.
extension NodeState {
    /// The entry's own isPurgeable.
    public var ownMark: PurgeMark? { reference._withUnsafeGuaranteedRef { $0.ownMark.mark } }
    /// Whether the entry itself has isExcludedFromBackup.
    public var ownExclusion: Bool { flags.contains(.ownExclusion) }
    /// The node's own protection class; nil if the device's default applies.
    public var protection: FileProtection? { reference._withUnsafeGuaranteedRef { $0.protection } }
    /// A directory's own policy.
    public var policy: DirectoryPolicy? { reference._withUnsafeGuaranteedRef { $0.policy } }
    /// Whether files in this directory belong to a policy, of this directory or of one above it.
    public var isUnderPolicy: Bool { reference._withUnsafeGuaranteedRef { $0.nearestPolicy != nil } }
    /// A directory's own values of purgeGroup and purgeTombstone.
    public var behaviour: PurgeBehaviour { reference._withUnsafeGuaranteedRef { $0.behaviour } }

    /// Whether a call is changing the node, or a purge has chosen it.
    public var isBusy: Bool { reference._withUnsafeGuaranteedRef { $0.isBusy } }
    /// Whether a purge truncates the file instead of removing its name.
    public var leavesTombstone: Bool { reference._withUnsafeGuaranteedRef { $0.leavesTombstone } }
    /// Whether a purge has chosen the file and is about to truncate it. Also true for a node held with `isGoing`.
    public var isEmptiedByPurge: Bool { reference._withUnsafeGuaranteedRef { $0.isEmptiedByPurge } }
    /// The file's rank in the order of purging; nil if it is not purgeable.
    public var purgeRank: PurgeRank? { reference._withUnsafeGuaranteedRef { $0.purgeRank } }
    /// The facts from which `PurgeRule` judges the node.
    public var purgeFacts: PurgeFacts { reference._withUnsafeGuaranteedRef { $0.purgeFacts } }
    /// Returns the file as a victim, in its current state. Without a `reason`, its rank gives one.
    public func victim(for reason: PurgeReason? = nil) -> Victim<Node> {
        let node = reference.takeUnretainedValue()
        return Victim(node, rank: node.purgeRank, age: node.age, reason: reason)
    }
    /// Judges whether a purge with this aim may take the node.
    public func verdict(for aim: PurgeAim) -> PurgeVerdict {
        reference._withUnsafeGuaranteedRef { $0.verdict(for: aim) }
    }
}
