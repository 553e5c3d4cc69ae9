import PurgeModel

/// The entries of the containers on a device, and the device whose numbers they make.
///
/// Its mutating functions are the only way to change a node. Each keeps the ledger of the node's container in step.
/// That is why the tree holds the device: no caller can forget the ledger, or pass another container's. It does no I/O,
/// reads no clock and takes no lock. It cannot be copied, since a copy would share its nodes.
public struct Tree: ~Copyable, Sendable {
    @usableFromInline var counted: CountedFiles
    /// One for each container, in the order of the device's ledgers.
    public private(set) var roots: [Node] = []
    public var references = KernelReferences()
    public var uses = UnsavedUses()
    /// What is still to follow from changes of directories.
    var placement = Placement()

    public init(device: Device) { counted = CountedFiles(device) }

    @inlinable public var accounts: DeviceAccounts {
        _read { yield counted.accounts }
        _modify { yield &counted.accounts }
    }
    /// The directories with a policy. Outside of PurgeTree they are only checked and asked for what they take.
    @inlinable public var policies: PolicySet {
        _read { yield counted.policies }
        _modify { yield &counted.policies }
    }
    @inlinable public var device: Device { _read { yield counted.accounts.device } }

    /// Adds a further, empty container, whose root is not in any tree yet.
    public mutating func addContainer(
        root: Node, _ facts: EntryFacts = EntryFacts()
    ) throws(TooManyContainers) {
        // No two containers may have one number, because they would share a ledger.
        guard let number = UInt8(exactly: roots.count) else { throw TooManyContainers() }
        root.container = number
        roots.append(root)
        if device.ledgers.count < roots.count { counted.accounts.device.ledgers.append(Ledger()) }
        root.take(facts)
        takePlace(root, facts.policy)
    }

    /// What has ended since the last call.
    public mutating func takeEndings() -> TreeEndings {
        defer { counted.endings = [] }
        return counted.endings
    }
}

/// A device has at most 256 containers.
public struct TooManyContainers: Error, Hashable, Sendable {}

/// What has ended in a tree, and threads may have waited for.
public struct TreeEndings: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The hold on a reclaimable file.
    public static var hold: TreeEndings { TreeEndings(rawValue: 1) }
    /// The purge of a file: it is gone, or it counts again.
    public static var purge: TreeEndings { TreeEndings(rawValue: 2) }
}

/// What is known about an entry when it is added to the tree.
public struct EntryFacts: Sendable {
    public var mark: PurgeMark?
    public var isExcluded = false
    /// Its own protection class.
    public var protection: FileProtection?
    public var blocks: Int64 = 0
    /// The blocks that are charged, of a file that is not dense.
    public var extents: ExtentSet?
    public var lastUse = Instant.distantPast
    public var creation = Instant.distantPast
    public var opens: UInt32 = 0
    /// Of a directory.
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

    /// Of anything but a directory, values that somebody has put into the store count for nothing.
    func take(_ new: PurgeBehaviour) {
        if isDirectory, new != behaviour { ensuredPart.behaviour = new }
    }
}
