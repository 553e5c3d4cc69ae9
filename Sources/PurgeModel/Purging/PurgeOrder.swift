/// Which files a purge takes, and in which order.
public struct PurgeOrder: Sendable {
    /// The ranks that it takes. Those in one element are purged as one, in the order of their files.
    public let groups: [[PurgeRank]]
    /// Once a file of `Library/Caches` goes because it is there, so does the rest of that place, also if less is enough.
    public let takesCachesWhole: Bool
    /// By the index of a rank: the position of its group.
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

    /// When files of a rank have their turn; nil if they have none.
    public func turn(of rank: PurgeRank) -> Int? { turns[rank.index] }

    /// The ranks whose files are purged as one with those of a rank.
    func ranks(with rank: PurgeRank) -> [PurgeRank] { turn(of: rank).map { groups[$0] } ?? [] }

    /// All that may be purged, step by step (docs/RULES.md, Order of purging).
    public static let documented = PurgeOrder(
        Urgency.allCases.map { ranks(.temporary, $0) }
            + Urgency.allCases.map { overPolicy(.caches, $0) + overPolicy(.marked, $0) }
            + Urgency.allCases.map { ranks(.caches, $0) } + Urgency.allCases.map { ranks(.marked, $0) })

    /// What profile `device` takes (docs/RULES.md, Profiles).
    static func device(_ urgency: Urgency, isRunning: Bool) -> PurgeOrder {
        (isRunning ? foreground : background)[urgency.rank]
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

    /// The ranks of a place without a policy.
    private static func ranks(_ place: PurgeStep, _ urgency: Urgency) -> [PurgeRank] {
        let rank = PurgeRank(step: place, urgency: urgency)
        return place == .temporary ? [rank, PurgeRank(step: place, urgency: urgency, isAged: true)] : [rank]
    }

    private static func overPolicy(_ place: PurgeStep, _ urgency: Urgency) -> [PurgeRank] {
        PolicyBreach.allCases.map { PurgeRank(step: place, urgency: urgency, breach: $0) }
    }
}
