/// The durability of a place in the container, by location alone (docs/RULES.md, Places).
public enum Tier: String, CaseIterable, Codable, Sendable {
    case temporary, caches, persistent
}

/// The order in which purgeable files are purged: low first (docs/RULES.md, Order of purging).
public enum Urgency: String, CaseIterable, Comparable, Codable, Sendable {
    case low, medium, high

    public var rank: Int {
        switch self {
        case .low: 0
        case .medium: 1
        case .high: 2
        }
    }
    public static func < (a: Urgency, b: Urgency) -> Bool { a.rank < b.rank }
}

/// An entry's own value of isPurgeable.
public enum PurgeMark: Hashable, Sendable {
    case notPurgeable
    case purgeable(Urgency)

    /// Parses `0`, `1` (the same as low), `low`, `medium` or `high` (docs/XATTRS.md).
    public init?(text: some StringProtocol) {
        switch text {
        case "0": self = .notPurgeable
        case "1": self = .purgeable(.low)
        default:
            guard let urgency = Urgency(rawValue: String(text)) else { return nil }
            self = .purgeable(urgency)
        }
    }

    /// The value as an app reads it back: the urgency, or `0`.
    public var text: String {
        switch self {
        case .notPurgeable: "0"
        case .purgeable(let urgency): urgency.rawValue
        }
    }

    public var urgency: Urgency? {
        if case .purgeable(let urgency) = self { urgency } else { nil }
    }
}

/// The capacity that new blocks come from (docs/RULES.md, Who may take what). In profile `device`, writes of both classes may
/// take all free space, and neither purges.
public enum WriteClass: Sendable {
    /// Purges to make room.
    case important
    /// Never purges, and never takes the device into low storage.
    case opportunistic

    public static func of(tier: Tier, effectiveMark: PurgeMark?) -> WriteClass {
        tier == .persistent && effectiveMark?.urgency == nil ? .important : .opportunistic
    }
}
