import PurgeModel
import Testing

@Suite struct WriteClassTests {
    @Test(
        arguments: [
            (.persistent, nil, .important), (.persistent, .notPurgeable, .important),
            (.persistent, .purgeable(.low), .opportunistic), (.persistent, .purgeable(.medium), .opportunistic),
            (.persistent, .purgeable(.high), .opportunistic),
            (.caches, nil, .opportunistic), (.caches, .notPurgeable, .opportunistic),
            (.caches, .purgeable(.high), .opportunistic),
            (.temporary, nil, .opportunistic), (.temporary, .notPurgeable, .opportunistic),
            (.temporary, .purgeable(.low), .opportunistic),
        ] as [(Tier, PurgeMark?, WriteClass)])
    func writeClasses(tier: Tier, mark: PurgeMark?, expected: WriteClass) {
        #expect(WriteClass.of(tier: tier, effectiveMark: mark) == expected)
    }
}
