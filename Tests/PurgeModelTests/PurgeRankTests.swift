import PurgeModel
import Testing

@Suite struct PurgeRankTests {
    @Test(
        arguments: [
            (.temporary, nil, PurgeRank(step: .temporary, urgency: .low)),
            (.temporary, .notPurgeable, PurgeRank(step: .temporary, urgency: .low)),
            (.temporary, .purgeable(.low), PurgeRank(step: .temporary, urgency: .low)),
            (.temporary, .purgeable(.medium), PurgeRank(step: .temporary, urgency: .medium)),
            (.temporary, .purgeable(.high), PurgeRank(step: .temporary, urgency: .high)),
            (.caches, nil, PurgeRank(step: .caches, urgency: .low)),
            (.caches, .notPurgeable, PurgeRank(step: .caches, urgency: .low)),
            (.caches, .purgeable(.low), PurgeRank(step: .caches, urgency: .low)),
            (.caches, .purgeable(.medium), PurgeRank(step: .caches, urgency: .medium)),
            (.caches, .purgeable(.high), PurgeRank(step: .caches, urgency: .high)),
            (.persistent, nil, nil),
            (.persistent, .notPurgeable, nil),
            (.persistent, .purgeable(.low), PurgeRank(step: .marked, urgency: .low)),
            (.persistent, .purgeable(.medium), PurgeRank(step: .marked, urgency: .medium)),
            (.persistent, .purgeable(.high), PurgeRank(step: .marked, urgency: .high)),
        ] as [(Tier, PurgeMark?, PurgeRank?)])
    func ranksByTierAndMark(tier: Tier, mark: PurgeMark?, rank: PurgeRank?) {
        #expect(PurgeRank.of(tier: tier, effectiveMark: mark) == rank)
    }

    /// A file is purgeable if and only if its writes are opportunistic.
    @Test(arguments: Tier.allCases, [nil, .notPurgeable, .purgeable(.low), .purgeable(.high)] as [PurgeMark?])
    func purgeableFilesAreTheOpportunisticOnes(tier: Tier, mark: PurgeMark?) {
        let mayGo = PurgeRank.of(tier: tier, effectiveMark: mark) != nil
        #expect(mayGo == (WriteClass.of(tier: tier, effectiveMark: mark) == .opportunistic))
    }

    @Test func stepFirstThenUrgency() {
        let order: [(PurgeStep, Urgency)] = [
            (.temporary, .low), (.temporary, .medium), (.temporary, .high),
            (.policy, .low), (.policy, .medium), (.policy, .high),
            (.caches, .low), (.caches, .medium), (.caches, .high),
            (.marked, .low), (.marked, .medium), (.marked, .high),
        ]
        let ranks = order.map { PurgeRank(step: $0.0, urgency: $0.1) }
        #expect(ranks.reversed().sorted() == ranks)
        #expect(ranks.map(\.step) == order.map(\.0))
    }

    /// Files over a policy share one step, whatever the place and the breach. In tmp, a breach has no effect.
    @Test func whatIsOverAPolicyGoesAsOne() {
        for urgency in Urgency.allCases {
            let ranks = [PurgeStep.caches, .marked].flatMap { place in
                PolicyBreach.allCases.map { PurgeRank(step: place, urgency: urgency, breach: $0) }
            }
            #expect(ranks.allSatisfy { $0.step == .policy && !($0 < ranks[0]) && !(ranks[0] < $0) })
            #expect(ranks.map(\.place) == [.caches, .caches, .marked, .marked])
            #expect(ranks.map { $0.reason(freeing: .block) } == [.policyAge, .policySize, .policyAge, .policySize])
            let temporary = PurgeRank(step: .temporary, urgency: urgency, breach: .age)
            #expect(temporary == PurgeRank(step: .temporary, urgency: urgency))
        }
    }

    @Test func eachRankHasItsTurnAndItsNumber() {
        let all = PurgeOrder.documented.groups.flatMap { $0 }
        #expect(PurgeOrder.documented.groups.count == 12)
        #expect(Set(all).count == all.count && all.count == 3 + 12 + 3 + 3)
        #expect(Set(all.map(\.index)).count == all.count)
        #expect(all.allSatisfy { (0..<PurgeRank.count).contains($0.index) })
        #expect(zip(all, all.dropFirst()).allSatisfy { !($1 < $0) })
    }

    @Test func reasonOfEachStep() {
        let reasons = PurgeStep.allCases.map { PurgeRank(step: $0, urgency: .low).reason(freeing: .block) }
        #expect(reasons == [.temporary, .policyAge, .caches, .purgeable])
    }
}
