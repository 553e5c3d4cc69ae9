import PurgeModel

extension Node {
    /// Another call or purge is working on it now.
    var isBusy: Bool { holds > 0 || isGoing }

    /// Whether a purge empties it, and it keeps its name.
    var leavesTombstone: Bool { isRegular && standing.leavesTombstone }

    /// Whether a purge has chosen it, and is to empty it.
    var isEmptiedByPurge: Bool { isGoing && holds > 0 }

    /// Whether a purge with this aim may take it.
    func verdict(for aim: PurgeAim) -> PurgeVerdict { PurgeRule.verdict(on: purgeFacts, for: aim) }

    /// What its bytes count as while they are reclaimable.
    var purgeClass: PurgeClass {
        PurgeClass(tier: standing.tier, mark: standing.mark, isAged: isAged)
    }

    /// When a purge takes it, if one may; nil if it is not purgeable.
    var purgeRank: PurgeRank? {
        PurgeRank.of(
            tier: standing.tier, effectiveMark: standing.mark, breach: flags.policy.breach, isAged: isAged)
    }

    /// See `NodeFlags.aged`; of a directory the same bit is another flag.
    private var isAged: Bool { isRegular && flags.contains(.aged) }

    /// Whether it is purged with others as one, if it is purged.
    var isInGroup: Bool {
        guard let parent, parent.flags.contains(.grouped) else { return false }
        return isRegular && !hasSeveralNames && !flags.contains(.linkedOutside)
    }

    /// The facts on which the rule of purging depends.
    var purgeFacts: PurgeFacts {
        var facts = PurgeFacts(kind: factsKind, tier: standing.tier, mark: standing.mark, blocks: blocks)
        facts.breach = flags.policy.breach
        facts.isAged = isAged
        facts.isGone = parent == nil
        facts.hasSeveralNames = hasSeveralNames
        facts.isLinkedOutside = flags.contains(.linkedOutside)
        facts.isOpen = opens > 0
        facts.isBusy = isBusy
        facts.isStuck = flags.contains(.stuck)
        facts.leavesTombstone = standing.leavesTombstone
        return facts
    }

    private var factsKind: PurgeFacts.Kind {
        switch kind {
        case .regular: .file
        case .symbolicLink: .symbolicLink
        default: .other
        }
    }
}
