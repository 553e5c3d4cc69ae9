/// The ranks that a purge takes, in order.
public struct PurgeOrder: Sendable {
    /// The ranks in purge order. Ranks in one element are purged together, in the order of their files.
    public let groups: [[PurgeRank]]
    /// For each element of `groups`, the folder that goes as a whole in place of its files; nil for files that go one by one.
    private let folders: [WholeFolder?]
    /// The position of a rank's group, by the rank's index; nil for a rank that the purge does not take.
    private let turns: [Int?]

    private init(_ turns: [(ranks: [PurgeRank], folder: WholeFolder?)]) {
        let taken = turns.filter { !$0.ranks.isEmpty }
        (groups, folders) = (taken.map(\.ranks), taken.map(\.folder))
        var turns = [Int?](repeating: nil, count: PurgeRank.count)
        for (turn, group) in groups.enumerated() {
            for rank in group { turns[rank.index] = turn }
        }
        self.turns = turns
    }

    /// Returns the position of a rank in the order, or nil if the purge does not take it.
    public func turn(of rank: PurgeRank) -> Int? { turns[rank.index] }

    /// Returns the folder that goes as a whole at this position of the order; nil if files go one by one.
    public func folder(at turn: Int) -> WholeFolder? { turn < folders.count ? folders[turn] : nil }

    /// Returns the folder with which files of a rank go; nil if they go one by one.
    public func folder(of rank: PurgeRank) -> WholeFolder? { turn(of: rank).flatMap { folders[$0] } }

    /// Returns the ranks whose files are purged together with files of `rank`.
    func ranks(with rank: PurgeRank) -> [PurgeRank] { turn(of: rank).map { groups[$0] } ?? [] }

    /// Everything that may be purged, step by step (docs/RULES.md, Order of purging).
    public static let documented = PurgeOrder(
        files(
            Urgency.allCases.map { [PurgeRank(step: .temporary, urgency: $0)] }
                + Urgency.allCases.map { overPolicy(.caches, $0) + overPolicy(.marked, $0) }
                + Urgency.allCases.map { [PurgeRank(step: .caches, urgency: $0)] }
                + Urgency.allCases.map { [PurgeRank(step: .marked, urgency: $0)] }))

    /// Returns the order of profile `device` (docs/RULES.md, Profiles). `takesCaches` tells whether `Library/Caches` may go; at
    /// the highest urgency, `tmp` may then go, too.
    static func device(_ urgency: Urgency, takesCaches: Bool) -> PurgeOrder {
        (takesCaches ? withCaches : withoutCaches)[urgency.rank]
    }

    private static let withoutCaches = Urgency.allCases.map { order($0, takesCaches: false) }
    private static let withCaches = Urgency.allCases.map { order($0, takesCaches: true) }

    private static func order(_ urgency: Urgency, takesCaches: Bool) -> PurgeOrder {
        let policies = Urgency.allCases.map { each in
            (takesCaches ? overPolicy(.caches, each) : []) + (each <= urgency ? overPolicy(.marked, each) : [])
        }
        let whole: [WholeFolder] = takesCaches ? urgency == .high ? [.caches, .temporary] : [.caches] : []
        let marked = Urgency.allCases.filter { $0 <= urgency }
        return PurgeOrder(
            files(policies)
                + whole.map { folder in
                    (Urgency.allCases.map { PurgeRank(step: folder.step, urgency: $0) }, folder)
                } + files(marked.map { [PurgeRank(step: .marked, urgency: $0)] }))
    }

    private static func files(_ groups: [[PurgeRank]]) -> [(ranks: [PurgeRank], folder: WholeFolder?)] {
        groups.map { ($0, nil) }
    }

    private static func overPolicy(_ place: PurgeStep, _ urgency: Urgency) -> [PurgeRank] {
        PolicyBreach.allCases.map { PurgeRank(step: place, urgency: urgency, breach: $0) }
    }
}
