import PurgeModel

extension Node {
    /// Whether a call is changing the node, or a purge has chosen it.
    var isBusy: Bool { holds > 0 || isGoing }

    /// Whether a purge truncates the file instead of removing its name.
    var leavesTombstone: Bool { isRegular && standing.leavesTombstone }

    /// Whether a purge has chosen the file and is about to truncate it. Also true for a node held with `isGoing`.
    var isEmptiedByPurge: Bool { isGoing && holds > 0 }

    /// Judges whether a purge with this aim may take the node.
    func verdict(for aim: PurgeAim) -> PurgeVerdict { PurgeRule.verdict(on: purgeFacts, for: aim) }

    /// The class in which the file's bytes count while they are reclaimable.
    var purgeClass: PurgeClass { PurgeClass(tier: standing.tier, mark: standing.mark) }

    /// The file's rank in the order of purging; nil if it is not purgeable.
    var purgeRank: PurgeRank? {
        PurgeRank.of(tier: standing.tier, effectiveMark: standing.mark, breach: flags.policy.breach)
    }

    /// Whether the file belongs to a group. A hard-linked file belongs to none.
    var isInGroup: Bool {
        guard let parent, parent.flags.contains(.grouped) else { return false }
        return isRegular && !hasSeveralNames && !flags.contains(.linkedOutside)
    }

    /// The facts from which `PurgeRule` judges the node.
    var purgeFacts: PurgeFacts {
        var facts = PurgeFacts(kind: factsKind, tier: standing.tier, mark: standing.mark, blocks: blocks)
        facts.breach = flags.policy.breach
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
