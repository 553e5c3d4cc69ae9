import Glibc
import PurgeModel
import PurgeTree

/// A file that a purge skipped although its turn had come: open, hard-linked, held or stuck. A few such files are enough to
/// explain why others were purged, so the search, which runs under the lock, examines only a few candidates.
struct Bystander {
    /// How many bystanders an event names.
    private static let told = 8
    /// How many of the newest opens, and how many entries in the directory of the last victim, are examined.
    private static let (openLookedAt, besideLookedAt) = (128, 64)

    private let node: Node
    private let reason: PurgeRefusal
    private let turn: Int
    private let age: PurgeAge

    /// Returns nil for an empty file, a victim, and anything that this purge would not take anyway.
    private init?(_ node: Node, _ order: PurgeOrder, in state: borrowing VolumeState) {
        let refusals = state[node].verdict(for: .room).refusals
        guard node.isRegular, !state[node].isGoing, state[node].parent != nil, let rank = state[node].purgeRank,
            let turn = order.turn(of: rank), !refusals.contains(.empty), let reason = refusals.first
        else { return nil }
        (self.node, self.reason, self.turn, age) = (node, reason, turn, state[node].age)
    }

    /// Returns a few skipped files whose turn was not after the last victim's, in purge order.
    static func passedOver(
        by victims: [Victim<Node>], _ order: PurgeOrder, in state: borrowing VolumeState
    ) -> [PassedOver] {
        guard let last = victims.last else { return [] }
        let lastTurn = last.rank.flatMap { order.turn(of: $0) } ?? .max
        let beside = (state[last.file].parent.map { state[$0].entries } ?? [:]).values.prefix(besideLookedAt)
        var seen: Set<ObjectIdentifier> = []
        var found: [Bystander] = []
        for node in state.handles.newestFiles(openLookedAt) + beside {
            guard let bystander = Bystander(node, order, in: state), bystander.turn <= lastTurn,
                seen.insert(ObjectIdentifier(node)).inserted
            else { continue }
            found.append(bystander)
        }
        found.sort { $0.turn == $1.turn ? $0.age < $1.age : $0.turn < $1.turn }
        return found.prefix(told).map {
            PassedOver(path: state[$0.node].path().text, reason: $0.reason, pid: state[$0.node].io.handles.lastOpener)
        }
    }
}
