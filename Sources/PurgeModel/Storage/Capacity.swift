/// The numbers of the device at one instant, and what follows from them (docs/RULES.md, Capacity).
/// Each of the six is a whole number of blocks, and so is everything computed from them.
public struct Capacity: Hashable, Sendable {
    public var profile: Profile
    public var total: ByteCount
    /// What the system and other apps use, simulated.
    public var others: ByteCount
    /// The part of others that purging frees.
    public var othersPurgeable: ByteCount
    /// Charged bytes of this container.
    public var used: ByteCount
    /// Charged bytes of files that purging would really free now.
    public var reclaimableFiles: ByteCount
    /// The part of them that purging takes at the lowest urgency.
    public var lowUrgencyFiles: ByteCount
    public var thresholds: Thresholds

    public init(
        profile: Profile = .documented, total: ByteCount, others: ByteCount = .zero,
        othersPurgeable: ByteCount = .zero, used: ByteCount = .zero, reclaimableFiles: ByteCount = .zero,
        lowUrgencyFiles: ByteCount = .zero, thresholds: Thresholds
    ) {
        self.profile = profile
        self.total = total
        self.others = others
        self.othersPurgeable = othersPurgeable
        self.used = used
        self.reclaimableFiles = reclaimableFiles
        self.lowUrgencyFiles = lowUrgencyFiles
        self.thresholds = thresholds
    }

    /// total - others - used: below zero after total was lowered or others was raised.
    public var balance: ByteCount { total - others - used }
    public var free: ByteCount { max(.zero, balance) }
    public var reclaimable: ByteCount { reclaimableFiles + othersPurgeable }
    public var important: ByteCount { min(total, max(.zero, balance + reclaimable)) }
    public var opportunistic: ByteCount { profile.opportunistic(of: self) }

    /// What a write of this class may take, with what it purges for itself.
    public func available(for class: WriteClass) -> ByteCount {
        guard profile.writesPurge else { return free }
        return switch `class` {
        case .important: important
        case .opportunistic: opportunistic
        }
    }

    /// How much must be purged before `need` more bytes fit; zero if they fit already.
    public func shortage(for need: ByteCount) -> ByteCount { max(.zero, need - balance) }
}
