/// The ranks that a purge takes, in order.
public struct PurgeOrder: Sendable {
    /// The ranks in purge order. Ranks in one element are purged together, in the order of their files.
    public let groups: [[PurgeRank]]
    /// Whether purging one file because it is in `Library/Caches` also purges the rest of that place, even if less would be
    /// enough.
    public let takesCachesWhole: Bool
    /// The position of a rank's group, by the rank's index; nil for a rank that the purge does not take.
    private let turns: [Int?]

    init(_ groups: [[PurgeRank]], takesCachesWhole: Bool = false) {
        self.groups = groups.filter { !$0.isEmpty }
        self.takesCachesWhole = takesCachesWhole
        var turns = [Int?](repeating: nil, count: PurgeRank.count)
        for (turn, group) in self.groups.enumerated() {
            for rank in group { turns[rank.index] = turn }
        }
        self.turns = turns
    }

    /// Returns the position of a rank in the order, or nil if the purge does not take it.
    public func turn(of rank: PurgeRank) -> Int? { turns[rank.index] }

    /// Returns the ranks whose files are purged together with files of `rank`.
    func ranks(with rank: PurgeRank) -> [PurgeRank] { turn(of: rank).map { groups[$0] } ?? [] }

    /// Everything that may be purged, step by step (docs/RULES.md, Order of purging).
    public static let documented = PurgeOrder(
        Urgency.allCases.map { ranks(.temporary, $0) }
            + Urgency.allCases.map { overPolicy(.caches, $0) + overPolicy(.marked, $0) }
            + Urgency.allCases.map { ranks(.caches, $0) } + Urgency.allCases.map { ranks(.marked, $0) })

    /// Returns the order of profile `device` (docs/RULES.md, Profiles).
    static func device(_ urgency: Urgency, isInForeground: Bool) -> PurgeOrder {
        (isInForeground ? foreground : background)[urgency.rank]
    }

    private static let foreground = Urgency.allCases.map { device($0, takesCaches: false) }
    private static let background = Urgency.allCases.map { device($0, takesCaches: true) }

    private static func device(_ urgency: Urgency, takesCaches: Bool) -> PurgeOrder {
        let marked = Urgency.allCases.filter { $0 <= urgency }
        let policies = Urgency.allCases.map { each in
            (takesCaches ? overPolicy(.caches, each) : []) + (each <= urgency ? overPolicy(.marked, each) : [])
        }
        let temporary = Urgency.allCases.map { each in
            ranks(.temporary, each).filter { $0.isAged || urgency == .high }
        }
        return PurgeOrder(
            policies + (takesCaches ? Urgency.allCases.map { ranks(.caches, $0) } : []) + temporary
                + marked.map { ranks(.marked, $0) }, takesCachesWhole: takesCaches)
    }

    /// Returns the ranks of the files in a place that do not exceed a policy.
    private static func ranks(_ place: PurgeStep, _ urgency: Urgency) -> [PurgeRank] {
        let rank = PurgeRank(step: place, urgency: urgency)
        return place == .temporary ? [rank, PurgeRank(step: place, urgency: urgency, isAged: true)] : [rank]
    }

    private static func overPolicy(_ place: PurgeStep, _ urgency: Urgency) -> [PurgeRank] {
        PolicyBreach.allCases.map { PurgeRank(step: place, urgency: urgency, breach: $0) }
    }
}
