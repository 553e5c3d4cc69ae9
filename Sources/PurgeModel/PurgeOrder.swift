/// The steps of purging, in their order (docs/RULES.md, Order of purging). Directory policies go between
/// temporary and caches when they come.
public enum PurgeStep: Int, CaseIterable, Comparable, Sendable {
    case temporary, caches, marked

    public static func < (a: PurgeStep, b: PurgeStep) -> Bool { a.rawValue < b.rawValue }

    /// Why a file that goes in this step may go.
    public var reason: PurgeReason {
        switch self {
        case .temporary: .temporary
        case .caches: .caches
        case .marked: .purgeable
        }
    }
}

/// Step and urgency: what groups files before their last use orders them.
public struct PurgeRank: Hashable, Comparable, Sendable {
    public var step: PurgeStep
    public var urgency: Urgency

    public init(step: PurgeStep, urgency: Urgency) {
        self.step = step
        self.urgency = urgency
    }

    /// nil for a file that purging never touches. Unmarked files of tmp and Caches have
    /// urgency low, and `0` takes nothing out of those places.
    public static func of(tier: Tier, effectiveMark: PurgeMark?) -> PurgeRank? {
        let urgency = effectiveMark?.urgency
        switch tier {
        case .temporary: return PurgeRank(step: .temporary, urgency: urgency ?? .low)
        case .caches: return PurgeRank(step: .caches, urgency: urgency ?? .low)
        case .persistent: return urgency.map { PurgeRank(step: .marked, urgency: $0) }
        }
    }

    public static let count = PurgeStep.allCases.count * Urgency.allCases.count
    /// 0 goes first.
    public var index: Int { step.rawValue * Urgency.allCases.count + urgency.rank }
    public static func < (a: PurgeRank, b: PurgeRank) -> Bool { a.index < b.index }
}

/// What orders files of one rank: least recently used first, then larger. Files that are
/// equal in both go by path, which is compared only then.
public struct PurgeAge: Hashable, Comparable, Sendable {
    public var lastUse: Instant
    public var charged: ByteCount

    public init(lastUse: Instant, charged: ByteCount) {
        self.lastUse = lastUse
        self.charged = charged
    }

    public static func < (a: PurgeAge, b: PurgeAge) -> Bool {
        a.lastUse != b.lastUse ? a.lastUse < b.lastUse : a.charged > b.charged
    }
}
