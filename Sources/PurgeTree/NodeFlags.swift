import PurgeModel

/// Flags of a node. The highest five bits hold its standing under a policy and its own protection class.
public struct NodeFlags: OptionSet, Sendable {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The last name is gone.
    public static var unlinked: NodeFlags { NodeFlags(rawValue: 1) }
    /// A purge has chosen the node, or one of its names is about to be removed.
    public static var purging: NodeFlags { NodeFlags(rawValue: 2) }
    /// A purge could not remove or truncate the file. In this mount, only a command that names the file tries again.
    public static var stuck: NodeFlags { NodeFlags(rawValue: 4) }
    /// `lastUse` has changed since it was last written to the journal.
    public static var useUnsaved: NodeFlags { NodeFlags(rawValue: 8) }
    /// The entry itself has isExcludedFromBackup.
    public static var ownExclusion: NodeFlags { NodeFlags(rawValue: 16) }
    /// On a directory: its files are purged in a group.
    public static var grouped: NodeFlags { NodeFlags(rawValue: 32) }
    /// The kernel must drop the file's pages at the next open: the file may have changed behind its cache, or the next read
    /// must reach the backing file.
    public static var cacheIsStale: NodeFlags { NodeFlags(rawValue: 64) }
    /// The ledger includes the file's blocks.
    public static var counted: NodeFlags { NodeFlags(rawValue: 128) }
    /// The reclaimable bytes include the file's blocks.
    public static var reclaimable: NodeFlags { NodeFlags(rawValue: 256) }
    /// The file has a name outside the container, so purging it would free nothing.
    public static var linkedOutside: NodeFlags { NodeFlags(rawValue: 512) }

    public mutating func set(_ flag: NodeFlags, to value: Bool) {
        if value { insert(flag) } else { remove(flag) }
    }
}

/// A file's standing under a directory policy.
public enum PolicyStanding: UInt16, Sendable {
    /// No policy applies.
    case none
    /// The file belongs to a policy and is not over it. On a directory: a policy applies to its entries.
    case under
    case overAge, overSize

    init(_ breach: PolicyBreach?) {
        self =
            switch breach {
            case nil: .under
            case .age?: .overAge
            case .size?: .overSize
            }
    }

    public var breach: PolicyBreach? {
        switch self {
        case .none, .under: nil
        case .overAge: .age
        case .overSize: .size
        }
    }
}

// The standing under a policy, in two bits.
extension NodeFlags {
    private static var policyShift: UInt16 { 11 }
    private static var policyBits: UInt16 { 3 << policyShift }

    /// Whether the file belongs to a policy. On a directory: whether its entries may.
    public var isUnderPolicy: Bool { rawValue & Self.policyBits != 0 }

    public var policy: PolicyStanding {
        get { PolicyStanding(rawValue: (rawValue & Self.policyBits) >> Self.policyShift) ?? .none }
        set { rawValue = rawValue & ~Self.policyBits | newValue.rawValue << Self.policyShift }
    }
}

// An optional protection class in three bits.
extension NodeFlags {
    private static var protectionShift: UInt16 { 13 }

    /// The node's own value of fileProtection.
    public var protection: FileProtection? {
        get {
            switch rawValue >> Self.protectionShift {
            case 1: .complete
            case 2: .completeUnlessOpen
            case 3: .completeUntilFirstUserAuthentication
            case 4: .completeWhenUserInactive
            case 5: FileProtection.none
            default: nil
            }
        }
        set {
            let bits: UInt16 =
                switch newValue {
                case nil: 0
                case .complete?: 1
                case .completeUnlessOpen?: 2
                case .completeUntilFirstUserAuthentication?: 3
                case .completeWhenUserInactive?: 4
                case FileProtection.none?: 5
                }
            rawValue = rawValue & (1 << Self.protectionShift - 1) | bits << Self.protectionShift
        }
    }
}
