import PurgeModel

/// The entries of the containers on a device, and the device whose numbers they make.
///
/// Its mutating functions are the only way to change a node. Each keeps the ledger of the node's container in step.
/// That is why the tree holds the device: no caller can forget the ledger, or pass another container's. It does no I/O,
/// reads no clock and takes no lock. It cannot be copied, since a copy would share its nodes.
public struct Tree: ~Copyable, Sendable {
    public var accounts: DeviceAccounts
    /// One for each container, in the order of the device's ledgers.
    public private(set) var roots: [Node] = []
    public var references = KernelReferences()
    public var uses = UnsavedUses()
    /// What has ended since `takeEndings`.
    var endings: TreeEndings = []
    var queue = VictimQueue()

    public init(device: Device) { accounts = DeviceAccounts(device) }

    public var device: Device { _read { yield accounts.device } }

    /// Adds a further, empty container, whose root is not in any tree yet.
    public mutating func addContainer(
        root: Node, _ facts: EntryFacts = EntryFacts()
    ) throws(TooManyContainers) {
        // No two containers may have one number, because they would share a ledger.
        guard let number = UInt8(exactly: roots.count) else { throw TooManyContainers() }
        root.container = number
        roots.append(root)
        if device.ledgers.count < roots.count { accounts.device.ledgers.append(Ledger()) }
        root.take(facts)
        place(root)
    }

    /// The end of a hold on a reclaimable file.
    mutating func noteReleased(_ node: Node) {
        accounts[of: node].release(node.charged)
        endings.insert(.hold)
    }

    /// What has ended since the last call.
    public mutating func takeEndings() -> TreeEndings {
        defer { endings = [] }
        return endings
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
    public var opens: UInt32 = 0

    public init(protection: FileProtection? = nil, opens: UInt32 = 0) {
        self.protection = protection
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
        opens = facts.opens
    }
}
