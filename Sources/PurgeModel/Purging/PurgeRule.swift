/// The facts about a file that decide whether a purge takes it.
public struct PurgeFacts: Hashable, Sendable {
    public enum Kind: Sendable { case file, symbolicLink, other }

    public var kind: Kind
    public var tier: Tier
    /// The effective mark: the file's own, or an inherited one.
    public var mark: PurgeMark?
    /// How the file exceeds the policy of its directory.
    public var breach: PolicyBreach?
    /// The number of charged blocks.
    public var blocks: Int64
    /// Whether the last name has been removed.
    public var isGone = false
    public var hasSeveralNames = false
    /// Whether one of the names is outside the container.
    public var isLinkedOutside = false
    /// Whether the file is open or mapped.
    public var isOpen = false
    /// Whether another call is changing the file, or another purge has chosen it.
    public var isBusy = false
    /// Whether an earlier attempt to remove the file from the store failed.
    public var isStuck = false
    /// Whether a directory above makes purges truncate files instead of removing them.
    public var leavesTombstone = false

    public init(kind: Kind = .file, tier: Tier, mark: PurgeMark? = nil, blocks: Int64) {
        self.kind = kind
        self.tier = tier
        self.mark = mark
        self.blocks = blocks
    }

    /// Whether purging the file would free no bytes, whatever else applies to it.
    public var isEmpty: Bool { kind != .file || blocks == 0 }
}

/// The aim of a purge, which limits its choice of files.
public enum PurgeAim: CaseIterable, Sendable {
    /// Bytes: room for a write, the size that a command names, a shortfall of the device, or a directory policy.
    case room
    /// All of a place, including empty files and symbolic links.
    case place
    /// Exactly the file that a command names, even if an earlier attempt to remove it failed.
    case file
}

public enum PurgeVerdict: Hashable, Sendable {
    /// A purge may take the file; the rank says when.
    case candidate(PurgeRank)
    /// A purge with the aim that was asked about may not take the file; these are all the reasons.
    case passedOver(PurgeRefusals)

    public var rank: PurgeRank? { if case .candidate(let rank) = self { rank } else { nil } }

    /// The reasons; none for a candidate.
    public var refusals: PurgeRefusals { if case .passedOver(let refusals) = self { refusals } else { [] } }

    /// The reason to report; nil for a candidate.
    public var refusal: PurgeRefusal? { if case .passedOver(let refusals) = self { refusals.first } else { nil } }

    /// Whether the file's bytes count as reclaimable. A file that is being changed still counts, although no purge chooses it
    /// until the change is done.
    public var isReclaimable: Bool {
        switch self {
        case .candidate: true
        case .passedOver(let refusals): refusals == [.busy]
        }
    }

    /// Whether a directory policy may take the file. A policy applies to files in every place, whether they are marked or not.
    public var admitsPolicy: Bool { refusals.subtracting(.notPurgeable).isEmpty }
}

/// Decides which files may be purged. The order of victims, the plan, and the reasons for skipping a file all come from this
/// one rule.
public enum PurgeRule {
    public static func verdict(on file: PurgeFacts, for aim: PurgeAim) -> PurgeVerdict {
        let rank = PurgeRank.of(tier: file.tier, effectiveMark: file.mark, breach: file.breach)
        var refusals: PurgeRefusals = []
        if file.isGone { refusals.insert(.noEntry) }
        if file.kind == .other { refusals.insert(.special) }
        if rank == nil { refusals.insert(.notPurgeable) }
        if file.hasSeveralNames { refusals.insert(.severalNames) }
        if file.isLinkedOutside { refusals.insert(.linkedOutside) }
        // Where a purge leaves tombstones, an empty file already is one.
        if file.isEmpty, aim == .room || file.leavesTombstone && file.kind == .file { refusals.insert(.empty) }
        if file.isOpen { refusals.insert(.open) }
        if file.isBusy { refusals.insert(.busy) }
        if aim != .file, file.isStuck { refusals.insert(.failed) }
        guard let rank, refusals.isEmpty else { return .passedOver(refusals) }
        return .candidate(rank)
    }
}

// The daily removal in `tmp` of profile `device` (docs/RULES.md, Profiles).
extension PurgeRule {
    /// The time for which an unused file stays in `tmp`.
    public static let temporaryAge = TimeSpan(seconds: 3 * 86400)
    /// The time for which an empty, unchanged folder stays in `tmp`.
    public static let folderAge = TimeSpan(seconds: 86400)

    /// Returns whether the daily removal takes a file in `tmp`. Empty files and symbolic links go too; open and hard-linked
    /// files stay.
    public static func isOver(_ file: PurgeFacts, lastUse: Instant, at now: Instant) -> Bool {
        var file = file
        // This removal does not aim to free bytes, so it also takes tombstones and leaves none.
        file.leavesTombstone = false
        let isVictim = file.tier == .temporary && verdict(on: file, for: .place).rank != nil
        return isVictim && lastUse.advanced(by: temporaryAge) <= now
    }

    /// Returns whether the daily removal takes an empty folder in `tmp` that last changed at `folderChanged`.
    public static func isOver(folderChanged: Instant, at now: Instant) -> Bool {
        folderChanged.advanced(by: folderAge) <= now
    }
}
