import PurgeModel

/// The entries of the containers on a device, and the device whose numbers they determine.
///
/// Only the mutating functions change a node, and each keeps the ledger of the node's container in step. The tree holds the
/// device so that no caller can forget the ledger, or pass another container's. The tree does no I/O, reads no clock and
/// takes no lock. It cannot be copied, because a copy would share its nodes.
public struct Tree: ~Copyable, Sendable {
    @usableFromInline var counted: CountedFiles
    /// The root of each container, in the order of the device's ledgers.
    public private(set) var roots: [Node] = []
    public var references = KernelReferences()
    public var uses = UnsavedUses()
    /// Updates that are pending after changes of directories.
    var placement = Placement()

    public init(device: Device) { counted = CountedFiles(device) }

    @inlinable public var accounts: DeviceAccounts {
        _read { yield counted.accounts }
        _modify { yield &counted.accounts }
    }
    /// The directories with a policy. Outside PurgeTree, code only settles and checks policies and asks for the next victim.
    @inlinable public var policies: PolicySet {
        _read { yield counted.policies }
        _modify { yield &counted.policies }
    }
    @inlinable public var device: Device { _read { yield counted.accounts.device } }

    /// Adds an empty container, whose root is not in any tree yet.
    public mutating func addContainer(
        root: Node, _ facts: EntryFacts = EntryFacts()
    ) throws(TooManyContainers) {
        // Containers with the same number would share a ledger.
        guard let number = UInt8(exactly: roots.count) else { throw TooManyContainers() }
        root.container = number
        roots.append(root)
        if device.ledgers.count < roots.count { counted.accounts.device.ledgers.append(Ledger()) }
        root.take(facts)
        takePlace(root, facts.policy)
    }

    /// Returns the endings since the last call, and clears them.
    public mutating func takeEndings() -> TreeEndings {
        defer { counted.endings = [] }
        return counted.endings
    }
}

/// The error for more containers than the 256 that a device can have.
public struct TooManyContainers: Error, Hashable, Sendable {}

/// Endings in a tree for which threads may be waiting.
public struct TreeEndings: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A reclaimable file is no longer held, or a held file is no longer reclaimable.
    public static var hold: TreeEndings { TreeEndings(rawValue: 1) }
    /// A purge of a file has ended (the file is gone, or it counts again), or a `Tree.hold` with `isGoing` has ended.
    public static var purge: TreeEndings { TreeEndings(rawValue: 2) }
}

/// Facts about an entry that is added to the tree.
public struct EntryFacts: Sendable {
    public var mark: PurgeMark?
    public var isExcluded = false
    /// The entry's own protection class.
    public var protection: FileProtection?
    public var blocks: Int64 = 0
    /// Charged blocks of a file that is not dense.
    public var extents: ExtentSet?
    public var lastUse = Instant.distantPast
    public var creation = Instant.distantPast
    public var opens: UInt32 = 0
    /// A directory's own policy.
    public var policy: DirectoryPolicy?
    public var behaviour = PurgeBehaviour()

    public init(protection: FileProtection? = nil, creation: Instant = .distantPast, opens: UInt32 = 0) {
        self.protection = protection
        self.creation = creation
        self.opens = opens
    }
}

extension Node {
    func take(_ facts: EntryFacts) {
        ownMark = PackedMark(facts.mark)
        flags.set(.ownExclusion, to: facts.isExcluded)
        flags.protection = facts.protection
        blocks = facts.blocks
        if let extents = facts.extents { ensuredPart.extents = extents }
        lastUse = facts.lastUse
        creation = facts.creation
        opens = facts.opens
        take(facts.behaviour)
    }

    /// Takes a directory's own values. On any other entry, such values in the store are ignored.
    func take(_ new: PurgeBehaviour) {
        if isDirectory, new != behaviour { ensuredPart.behaviour = new }
    }
}
