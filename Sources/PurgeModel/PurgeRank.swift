/// The steps of purging, in order (docs/RULES.md, Order of purging). Directory policies will go between
/// temporary and caches.
public enum PurgeStep: Int, CaseIterable, Comparable, Sendable {
    case temporary, caches, marked

    public static func < (a: PurgeStep, b: PurgeStep) -> Bool { a.rawValue < b.rawValue }

    fileprivate var reason: PurgeReason {
        switch self {
        case .temporary: .temporary
        case .caches: .caches
        case .marked: .purgeable
        }
    }
}

/// Step and urgency: they group files before last use orders them.
public struct PurgeRank: Hashable, Comparable, Sendable {
    public var step: PurgeStep
    public var urgency: Urgency

    public init(step: PurgeStep, urgency: Urgency) {
        self.step = step
        self.urgency = urgency
    }

    /// nil for a file that is never purged. Unmarked files of tmp and Caches have urgency low, and `0`
    /// has no effect in those places.
    public static func of(tier: Tier, effectiveMark: PurgeMark?) -> PurgeRank? {
        let urgency = effectiveMark?.urgency
        switch tier {
        case .temporary: return PurgeRank(step: .temporary, urgency: urgency ?? .low)
        case .caches: return PurgeRank(step: .caches, urgency: urgency ?? .low)
        case .persistent: return urgency.map { PurgeRank(step: .marked, urgency: $0) }
        }
    }

    /// Why a file of this rank is purged: by the rule that makes it a victim or, if that frees nothing, because a command
    /// names it or its place.
    public func reason(freeing bytes: ByteCount) -> PurgeReason { bytes == .zero ? .command : step.reason }

    public static let count = PurgeStep.allCases.count * Urgency.allCases.count
    /// 0 is purged first.
    public var index: Int { step.rawValue * Urgency.allCases.count + urgency.rank }
    public static func < (a: PurgeRank, b: PurgeRank) -> Bool { a.index < b.index }
}
