/// The numbers of the device at one instant, and the capacities that follow from them (docs/RULES.md, Capacity). All six
/// numbers are whole blocks, so everything computed from them is too.
public struct Capacity: Hashable, Sendable {
    public var profile: Profile
    public var total: ByteCount
    /// The simulated use by the system and other apps.
    public var others: ByteCount
    /// The part of `others` that purging can free.
    public var othersPurgeable: ByteCount
    /// The charged bytes of all containers on the device.
    public var used: ByteCount
    /// The charged bytes of files that purging would free now.
    public var reclaimableFiles: ByteCount
    /// The part of `reclaimableFiles` that purging takes at the lowest urgency.
    public var lowUrgencyFiles: ByteCount
    public var thresholds: Thresholds
    /// Whether a fault has made the device full: no capacity is left, and the pressure stays as it was (docs/FAULTS.md).
    public var isFull = false

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

    /// Total less others and used. It is negative if total was lowered, or others raised, too far.
    public var balance: ByteCount { total - others - used }
    public var free: ByteCount { isFull ? .zero : max(.zero, balance) }
    public var reclaimable: ByteCount { reclaimableFiles + othersPurgeable }
    public var important: ByteCount { isFull ? .zero : min(total, max(.zero, balance + reclaimable)) }
    public var opportunistic: ByteCount { profile.opportunistic(of: self) }

    /// Returns how much a write of this class may take, including what it can purge for itself.
    public func available(for class: WriteClass) -> ByteCount {
        guard profile.writesPurge else { return free }
        return switch `class` {
        case .important: important
        case .opportunistic: opportunistic
        }
    }

    /// Returns how much must be purged before `need` more bytes fit, or zero if they fit already.
    public func shortage(for need: ByteCount) -> ByteCount { max(.zero, need - balance) }
}
