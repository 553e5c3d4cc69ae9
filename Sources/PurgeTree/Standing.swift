import PurgeModel

/// Place, effective mark and effective exclusion of a node, in one byte.
package struct Standing: Hashable, Sendable {
    private var bits: UInt8 = Place.persistent.rawValue

    package init() {}
    package init(place: Place, mark: PurgeMark?, isExcluded: Bool) {
        bits = place.rawValue
        bits |= PackedMark(mark).bits << 3
        bits |= isExcluded ? 0x40 : 0
    }

    /// For a directory, its place.
    package var place: Place { Place(rawValue: bits & 7) ?? .persistent }
    package var tier: Tier { place.tier }
    package var mark: PurgeMark? { PackedMark(bits: bits >> 3 & 7).mark }
    package var isExcluded: Bool { bits & 0x40 != 0 }
    package var writeClass: WriteClass { .of(tier: tier, effectiveMark: mark) }
    /// The numbers of the ledger that a file of this standing counts in.
    package var account: Ledger.Account {
        Ledger.Account(tier: tier, isMarked: mark?.urgency != nil, isExcluded: isExcluded)
    }
}

extension Place {
    /// A place of a tier in which no name is special.
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
package struct PackedMark: Hashable, Sendable {
    package var bits: UInt8 = 0

    package init() {}
    package init(bits: UInt8) { self.bits = bits }
    package init(_ mark: PurgeMark?) {
        switch mark {
        case nil: bits = 0
        case .notPurgeable: bits = 1
        case .purgeable(let urgency): bits = 2 + UInt8(urgency.rank)
        }
    }

    package var mark: PurgeMark? {
        switch bits {
        case 1: .notPurgeable
        case 2: .purgeable(.low)
        case 3: .purgeable(.medium)
        case 4: .purgeable(.high)
        default: nil
        }
    }
}
