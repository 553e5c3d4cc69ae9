/// What is known about a file when a purge considers it.
public struct PurgeFacts: Hashable, Sendable {
    public enum Kind: Sendable { case file, symbolicLink, other }

    public var kind: Kind
    public var tier: Tier
    /// The effective mark: its own, or one that it inherits.
    public var mark: PurgeMark?
    /// Why it is over the policy of its directory.
    public var breach: PolicyBreach?
    /// Of a file of `tmp`: it has not been used for `PurgeRule.temporaryAge`.
    public var isAged = false
    /// Charged blocks.
    public var blocks: Int64
    /// Its last name is gone.
    public var isGone = false
    public var hasSeveralNames = false
    /// It has a name outside of the container.
    public var isLinkedOutside = false
    /// It is open or mapped.
    public var isOpen = false
    /// Another call is changing it, or another purge has chosen it.
    public var isBusy = false
    /// It could not be removed from the store before.
    public var isStuck = false
    /// A directory above it has purges empty files instead of removing them.
    public var leavesTombstone = false

    public init(kind: Kind = .file, tier: Tier, mark: PurgeMark? = nil, blocks: Int64) {
        self.kind = kind
        self.tier = tier
        self.mark = mark
        self.blocks = blocks
    }

    /// Purging it would free no bytes, whatever else applies to it.
    public var isEmpty: Bool { kind != .file || blocks == 0 }
}

/// The aim of a purge, which decides what it may take.
public enum PurgeAim: CaseIterable, Sendable {
    /// Bytes: room for a write, a size that a command names, a level of pressure.
    case room
    /// All of a place, empty files and symbolic links too.
    case place
    /// Exactly this file, which a command names. A file that could not be removed before is tried again.
    case file
}

public enum PurgeVerdict: Hashable, Sendable {
    /// A purge may take it; the rank says when.
    case candidate(PurgeRank)
    /// No purge may take it, for all of these reasons.
    case passedOver(PurgeRefusals)

    public var rank: PurgeRank? { if case .candidate(let rank) = self { rank } else { nil } }

    /// None for a candidate.
    public var refusals: PurgeRefusals { if case .passedOver(let refusals) = self { refusals } else { [] } }

    /// The first of the reasons, nil for a candidate.
    public var refusal: PurgeRefusal? { if case .passedOver(let refusals) = self { refusals.first } else { nil } }

    /// Whether its bytes count as reclaimable: a file that is being changed stays in that number, though no
    /// purge chooses it until the change is done.
    public var isReclaimable: Bool {
        switch self {
        case .candidate: true
        case .passedOver(let refusals): refusals == [.busy]
        }
    }

    /// Whether the policy of its directory may take the file, which it does wherever that is.
    public var admitsPolicy: Bool { refusals.subtracting(.notPurgeable).isEmpty }
}

/// Which files may be purged: the one rule behind the order of victims, the plan, and the reasons why a file is not
/// purged.
public enum PurgeRule {
    public static func verdict(on file: PurgeFacts, for aim: PurgeAim) -> PurgeVerdict {
        let rank = PurgeRank.of(
            tier: file.tier, effectiveMark: file.mark, breach: file.breach, isAged: file.isAged)
        var refusals: PurgeRefusals = []
        if file.isGone { refusals.insert(.noEntry) }
        if file.kind == .other { refusals.insert(.special) }
        if rank == nil { refusals.insert(.notPurgeable) }
        if file.hasSeveralNames { refusals.insert(.severalNames) }
        if file.isLinkedOutside { refusals.insert(.linkedOutside) }
        // A file that is empty is what a purge would make of it where it leaves tombstones.
        if file.isEmpty, aim == .room || file.leavesTombstone && file.kind == .file { refusals.insert(.empty) }
        if file.isOpen { refusals.insert(.open) }
        if file.isBusy { refusals.insert(.busy) }
        if aim != .file, file.isStuck { refusals.insert(.failed) }
        guard let rank, refusals.isEmpty else { return .passedOver(refusals) }
        return .candidate(rank)
    }
}

// What profile `device` does about `tmp` once a day (docs/RULES.md, Profiles).
extension PurgeRule {
    /// How long a file of `tmp` is kept that nobody uses.
    public static let temporaryAge = TimeSpan(seconds: 3 * 86400)
    /// How long an empty folder of `tmp` is kept in which nothing changes.
    public static let folderAge = TimeSpan(seconds: 86400)

    /// The last use of a file that has just reached its age.
    public static func lastUseOfAged(at now: Instant) -> Instant {
        now.advanced(by: TimeSpan(seconds: -temporaryAge.seconds))
    }

    /// Whether a file of `tmp` goes. Empty ones and symbolic links do too; what is open, or has several names, stays.
    public static func isOver(_ file: PurgeFacts, lastUse: Instant, at now: Instant) -> Bool {
        var file = file
        // It makes no room, and leaves none.
        file.leavesTombstone = false
        let isVictim = file.tier == .temporary && verdict(on: file, for: .place).rank != nil
        return isVictim && lastUse <= lastUseOfAged(at: now)
    }

    /// Whether an empty folder of `tmp` goes in which something has last changed at a moment.
    public static func isOver(folderChanged: Instant, at now: Instant) -> Bool {
        folderChanged.advanced(by: folderAge) <= now
    }
}
