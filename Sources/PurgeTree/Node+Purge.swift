import PurgeModel

extension Node {
    /// Another call or purge is at it just now.
    package var isBusy: Bool { holds > 0 || isGoing }

    /// Whether a purge after `aim` may have it.
    package func verdict(for aim: PurgeAim) -> PurgeVerdict { PurgeRule.verdict(on: purgeFacts, for: aim) }

    /// What the rule of purging looks at.
    package var purgeFacts: PurgeFacts {
        var facts = PurgeFacts(kind: factsKind, tier: standing.tier, mark: standing.mark, blocks: blocks)
        facts.isGone = parent == nil
        facts.hasSeveralNames = hasSeveralNames
        facts.isLinkedOutside = flags.contains(.linkedOutside)
        facts.isOpen = opens > 0
        facts.isBusy = isBusy
        facts.isStuck = flags.contains(.stuck)
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
