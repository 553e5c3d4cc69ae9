/// How durable a place in the container is, by location alone (docs/RULES.md, Places).
public enum Tier: String, CaseIterable, Codable, Sendable {
    case temporary, caches, persistent
}

/// How soon a purgeable file is purged: low first (docs/RULES.md, Order of purging).
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

/// The value of isPurgeable of an entry itself.
public enum PurgeMark: Hashable, Sendable {
    case notPurgeable
    case purgeable(Urgency)

    /// `0`, `1` (= low), `low`, `medium`, `high` (docs/XATTRS.md).
    public init?(text: some StringProtocol) {
        switch text {
        case "0": self = .notPurgeable
        case "1": self = .purgeable(.low)
        default:
            guard let urgency = Urgency(rawValue: String(text)) else { return nil }
            self = .purgeable(urgency)
        }
    }

    /// Reads back as the urgency, or `0`.
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

/// Which capacity new blocks come from (docs/RULES.md, Who may take what).
public enum WriteClass: Sendable {
    /// Makes room by purging.
    case important
    /// Never purges, and never brings the device into low storage.
    case opportunistic

    public static func of(tier: Tier, effectiveMark: PurgeMark?) -> WriteClass {
        tier == .persistent && effectiveMark?.urgency == nil ? .important : .opportunistic
    }
}
