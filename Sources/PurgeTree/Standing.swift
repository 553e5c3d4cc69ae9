import PurgeModel

/// Tier, effective mark and effective exclusion of a node, in one byte.
package struct Standing: Hashable, Sendable {
    private var bits: UInt8 = 2

    package init() {}
    package init(tier: Tier, mark: PurgeMark?, isExcluded: Bool) {
        bits = UInt8(Tier.allCases.firstIndex(of: tier) ?? 2)
        bits |= PackedMark(mark).bits << 2
        bits |= isExcluded ? 0x20 : 0
    }

    package var tier: Tier {
        switch bits & 3 {
        case 0: .temporary
        case 1: .caches
        default: .persistent
        }
    }
    package var mark: PurgeMark? { PackedMark(bits: bits >> 2 & 7).mark }
    package var isExcluded: Bool { bits & 0x20 != 0 }
    package var writeClass: WriteClass { .of(tier: tier, effectiveMark: mark) }
    package var rank: PurgeRank? { .of(tier: tier, effectiveMark: mark) }
    /// The numbers of the ledger that a file of this standing counts in.
    package var account: Ledger.Account {
        Ledger.Account(tier: tier, isMarked: mark?.urgency != nil, isExcluded: isExcluded)
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
