/// The steps of purging, in order (docs/RULES.md, Order of purging).
public enum PurgeStep: Int, CaseIterable, Comparable, Sendable {
    case temporary, policy, caches, marked

    public static func < (a: PurgeStep, b: PurgeStep) -> Bool { a.rawValue < b.rawValue }
}

/// A file's step and urgency, which decide the order of purging before the last use does.
public struct PurgeRank: Hashable, Comparable, Sendable {
    /// The step without regard to policies. A command for a whole place names this step.
    public let place: PurgeStep
    public let urgency: Urgency
    /// How the file exceeds its directory's policy, if it does. That moves the file into the step `policy`.
    public let breach: PolicyBreach?

    /// `step` is the step of the file's place or mark. A policy does not change the rank of files in `tmp`, which the
    /// documented order takes first anyway. The step `policy` means a file in Caches that exceeds a policy: the limit in
    /// `breach` or, if that is nil, the age limit.
    public init(step: PurgeStep, urgency: Urgency, breach: PolicyBreach? = nil) {
        place = step == .policy ? .caches : step
        self.urgency = urgency
        self.breach = step == .temporary ? nil : step == .policy ? breach ?? .age : breach
    }

    public var step: PurgeStep { breach == nil ? place : .policy }

    /// Returns the rank of a file, or nil if it is never purged. Unmarked files in tmp and Caches have urgency low, and the
    /// mark `0` has no effect there.
    public static func of(tier: Tier, effectiveMark: PurgeMark?, breach: PolicyBreach? = nil) -> PurgeRank? {
        let urgency = effectiveMark?.urgency
        switch tier {
        case .temporary: return PurgeRank(step: .temporary, urgency: urgency ?? .low)
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

    /// Returns why a file of this rank is purged: the rule that makes it a victim or, if purging it frees nothing, the
    /// command that names the file or its place.
    public func reason(freeing bytes: ByteCount) -> PurgeReason {
        if bytes == .zero { return .command }
        switch step {
        case .temporary: return .temporary
        case .policy: return breach?.reason ?? .command
        case .caches: return .caches
        case .marked: return .purgeable
        }
    }

    /// A distinct number for each rank, in no particular order.
    public var index: Int {
        let number =
            switch breach {
            case nil: 0
            case .age?: 1
            case .size?: 2
            }
        return (place.rawValue * 3 + number) * 3 + urgency.rank
    }
    /// Greater than any `index`.
    public static let count = PurgeStep.allCases.count * 9

    public static func < (a: PurgeRank, b: PurgeRank) -> Bool {
        a.step == b.step ? a.urgency < b.urgency : a.step < b.step
    }
}
