import Glibc
import PurgeModel
import PurgeTree

/// A file that a purge could have taken if it were not in use or did not have several names. A few of them are enough to
/// tell why others went, so only a few files are looked at: the lock is held meanwhile.
struct Bystander {
    /// How many are told.
    private static let told = 8
    /// How many open files, and how many files beside a victim, are looked at.
    private static let (openLookedAt, besideLookedAt) = (128, 64)

    private let node: Node
    private let reason: PurgeRefusal
    private let turn: Int
    private let age: PurgeAge

    /// nil for what gives nothing back, is a victim, or is no file that this purge takes.
    private init?(_ node: Node, _ order: PurgeOrder, in state: borrowing VolumeState) {
        let refusals = state[node].verdict(for: .room).refusals
        guard node.isRegular, !state[node].isGoing, state[node].parent != nil, let rank = state[node].purgeRank,
            let turn = order.turn(of: rank), !refusals.contains(.empty), let reason = refusals.first
        else { return nil }
        (self.node, self.reason, self.turn, age) = (node, reason, turn, state[node].age)
    }

    /// Those whose turn was not after that of the last victim, the first in the order first.
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
