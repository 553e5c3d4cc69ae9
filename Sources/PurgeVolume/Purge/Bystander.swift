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

    /// nil for what gives nothing back, is a victim, or is no file that this purge takes.
    private init?(_ node: Node, _ order: PurgeOrder) {
        let refusals = node.verdict(for: .room).refusals
        guard node.isRegular, !node.isGoing, node.parent != nil, let rank = node.purgeRank,
            let turn = order.turn(of: rank), !refusals.contains(.empty), let reason = refusals.first
        else { return nil }
        (self.node, self.reason, self.turn) = (node, reason, turn)
    }

    /// Those whose turn was not after that of the last victim, the first in the order first.
    static func passedOver(by victims: [Victim<Node>], _ order: PurgeOrder, _ handles: HandleList) -> [PassedOver] {
        guard let last = victims.last else { return [] }
        let lastTurn = last.rank.flatMap { order.turn(of: $0) } ?? .max
        let beside = (last.file.parent?.entries ?? [:]).values.prefix(besideLookedAt)
        var seen: Set<ObjectIdentifier> = []
        var found: [Bystander] = []
        for node in handles.newestFiles(openLookedAt) + beside {
            guard let bystander = Bystander(node, order), bystander.turn <= lastTurn,
                seen.insert(ObjectIdentifier(node)).inserted
            else { continue }
            found.append(bystander)
        }
        found.sort { $0.turn == $1.turn ? $0.node.age < $1.node.age : $0.turn < $1.turn }
        return found.prefix(told).map(\.passedOver)
    }

    private var passedOver: PassedOver { PassedOver(path: node.path().text, reason: reason, pid: opener) }

    /// The thread that has opened it last, of those that have it open.
    private var opener: pid_t? {
        var next = node.io?.firstHandle
        while let handle = next {
            let (opener, after) = handle._withUnsafeGuaranteedRef { ($0.opener, $0.next) }
            if opener != 0 { return opener }
            next = after
        }
        return nil
    }
}
