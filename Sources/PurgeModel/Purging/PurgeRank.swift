/// The steps of purging, in order (docs/RULES.md, Order of purging).
public enum PurgeStep: Int, CaseIterable, Comparable, Sendable {
    case temporary, policy, caches, marked

    public static func < (a: PurgeStep, b: PurgeStep) -> Bool { a.rawValue < b.rawValue }
}

/// Step and urgency: they group files before last use orders them.
public struct PurgeRank: Hashable, Comparable, Sendable {
    /// The step without a policy, which a command for all of a place names.
    public let place: PurgeStep
    public let urgency: Urgency
    /// Why the file is over a directory policy, which brings it into that step.
    public let breach: PolicyBreach?
    /// Whether a file of `tmp` has not been used for `PurgeRule.temporaryAge`.
    public let isAged: Bool

    /// `step` is that of the file's place or mark. Files of `tmp` go before all others, so a policy changes nothing for
    /// them. What is said to be in the step of the policies is in Caches and over age.
    public init(step: PurgeStep, urgency: Urgency, breach: PolicyBreach? = nil, isAged: Bool = false) {
        place = step == .policy ? .caches : step
        self.urgency = urgency
        self.breach = step == .temporary ? nil : step == .policy ? breach ?? .age : breach
        self.isAged = step == .temporary && isAged
    }

    public var step: PurgeStep { breach == nil ? place : .policy }

    /// nil for a file that is never purged. Unmarked files of tmp and Caches have urgency low, and `0`
    /// has no effect in those places.
    public static func of(
        tier: Tier, effectiveMark: PurgeMark?, breach: PolicyBreach? = nil, isAged: Bool = false
    ) -> PurgeRank? {
        let urgency = effectiveMark?.urgency
        switch tier {
        case .temporary: return PurgeRank(step: .temporary, urgency: urgency ?? .low, isAged: isAged)
        case .caches: return PurgeRank(step: .caches, urgency: urgency ?? .low, breach: breach)
        case .persistent: return urgency.map { PurgeRank(step: .marked, urgency: $0, breach: breach) }
        }
    }

    public var tier: Tier {
        switch place {
        case .temporary: .temporary
        case .policy, .caches: .caches
        case .marked: .persistent
        }
    }

    /// Why a file of this rank is purged: by the rule that makes it a victim or, if that frees nothing, because a command
    /// names it or its place.
    public func reason(freeing bytes: ByteCount) -> PurgeReason {
        if bytes == .zero { return .command }
        switch step {
        case .temporary: return .temporary
        case .policy: return breach?.reason ?? .command
        case .caches: return .caches
        case .marked: return .purgeable
        }
    }

    /// A number for each rank, in no particular order.
    public var index: Int {
        let number =
            switch breach {
            case nil: isAged ? 1 : 0
            case .age?: 1
            case .size?: 2
            }
        return (place.rawValue * 3 + number) * 3 + urgency.rank
    }
    /// More than any `index`.
    public static let count = PurgeStep.allCases.count * 9

    public static func < (a: PurgeRank, b: PurgeRank) -> Bool {
        a.step == b.step ? a.urgency < b.urgency : a.step < b.step
    }
}
