import PurgeModel

/// Properties of a node. The highest three bits are its own protection class.
public struct NodeFlags: OptionSet, Sendable {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The last name is gone.
    public static var unlinked: NodeFlags { NodeFlags(rawValue: 1) }
    /// A purge has chosen it; its name is about to be removed.
    public static var purging: NodeFlags { NodeFlags(rawValue: 2) }
    /// It could not be removed from the store, and is not offered for purging again in this mount.
    public static var stuck: NodeFlags { NodeFlags(rawValue: 4) }
    /// `lastUse` has changed since it was last written to the journal.
    public static var useUnsaved: NodeFlags { NodeFlags(rawValue: 8) }
    /// It has isExcludedFromBackup itself.
    public static var ownExclusion: NodeFlags { NodeFlags(rawValue: 16) }
    /// Of a file: it is reclaimable, in `tmp`, and not used for `PurgeRule.temporaryAge`, as far as the tree has been told the time.
    public static var aged: NodeFlags { NodeFlags(rawValue: 32) }
    /// Of a directory: the files in it are purged as one with others. Files have `aged` in the same bit.
    public static var grouped: NodeFlags { NodeFlags(rawValue: 32) }
    /// The kernel must drop its pages at the next open: the file may have been changed behind its
    /// cache, or the next read must reach the backing file.
    public static var cacheIsStale: NodeFlags { NodeFlags(rawValue: 64) }
    /// Its blocks are in the ledger's numbers.
    public static var counted: NodeFlags { NodeFlags(rawValue: 128) }
    /// Its blocks are in the number of reclaimable bytes.
    public static var reclaimable: NodeFlags { NodeFlags(rawValue: 256) }
    /// It has a name outside the container, so purging it would free nothing.
    public static var linkedOutside: NodeFlags { NodeFlags(rawValue: 512) }

    public mutating func set(_ flag: NodeFlags, to value: Bool) {
        if value { insert(flag) } else { remove(flag) }
    }
}

/// What a directory policy makes of a file.
public enum PolicyStanding: UInt16, Sendable {
    /// No policy is above it.
    case none
    /// It belongs to a policy and is not over it. Of a directory: there is a policy above its entries.
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

// What a policy makes of it, in two bits.
extension NodeFlags {
    private static var policyShift: UInt16 { 11 }
    private static var policyBits: UInt16 { 3 << policyShift }

    /// Whether it belongs to a policy; of a directory, whether its entries may.
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
