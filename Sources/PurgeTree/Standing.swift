import PurgeModel

/// A node's place, effective mark and effective exclusion, and whether purging leaves tombstones there, in one byte.
public struct Standing: Hashable, Sendable {
    private var bits: UInt8 = Place.persistent.rawValue

    public init() {}
    public init(place: Place, mark: PurgeMark?, isExcluded: Bool, leavesTombstone: Bool = false) {
        bits = place.rawValue
        bits |= PackedMark(mark).bits << 3
        bits |= isExcluded ? 0x40 : 0
        bits |= leavesTombstone ? 0x80 : 0
    }

    /// The place of a directory.
    public var place: Place { Place(rawValue: bits & 7) ?? .persistent }
    public var tier: Tier { place.tier }
    public var mark: PurgeMark? { PackedMark(bits: bits >> 3 & 7).mark }
    public var isExcluded: Bool { bits & 0x40 != 0 }
    public var leavesTombstone: Bool { bits & 0x80 != 0 }
    public var writeClass: WriteClass { .of(tier: tier, effectiveMark: mark) }
    /// The account of the ledger in which a file of this standing counts.
    public var account: Ledger.Account {
        Ledger.Account(tier: tier, isMarked: mark?.urgency != nil, isExcluded: isExcluded)
    }
}

extension Place {
    /// Creates the tier's place in which no name is special; never `root` or `library`.
    init(_ tier: Tier) {
        self =
            switch tier {
            case .temporary: .temporary
            case .caches: .caches
            case .persistent: .persistent
            }
    }
}

/// An optional PurgeMark in three bits.
public struct PackedMark: Hashable, Sendable {
    public var bits: UInt8 = 0

    public init() {}
    public init(bits: UInt8) { self.bits = bits }
    public init(_ mark: PurgeMark?) {
        switch mark {
        case nil: bits = 0
        case .notPurgeable: bits = 1
        case .purgeable(let urgency): bits = 2 + UInt8(urgency.rank)
        }
    }

    public var mark: PurgeMark? {
        switch bits {
        case 1: .notPurgeable
        case 2: .purgeable(.low)
        case 3: .purgeable(.medium)
        case 4: .purgeable(.high)
        default: nil
        }
    }
}
