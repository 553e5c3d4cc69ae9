import PurgeModel
import Testing

/// The order of purging (docs/RULES.md), file by file. Sizes are blocks.
@Suite struct PurgePlanTests {
    /// (path, tier, mark, last use, blocks), in an order unrelated to the result.
    static let files: [(String, Tier, PurgeMark?, Int64, Int64)] = [
        ("Documents/marked-high", .persistent, .purgeable(.high), 1, 1),
        ("Documents/plain", .persistent, nil, 0, 50),
        ("Library/Caches/new", .caches, nil, 90, 8),
        ("tmp/old", .temporary, nil, 10, 2),
        ("Documents/kept", .persistent, .notPurgeable, 0, 50),
        ("Library/Caches/high", .caches, .purgeable(.high), 1, 3),
        ("tmp/high", .temporary, .purgeable(.high), 1, 1),
        ("Documents/marked-low-new", .persistent, .purgeable(.low), 80, 2),
        ("Library/Caches/old-b", .caches, .notPurgeable, 20, 4),
        ("Library/Caches/old-a", .caches, .purgeable(.low), 20, 4),
        ("tmp/new", .temporary, nil, 99, 1),
        ("Documents/marked-medium", .persistent, .purgeable(.medium), 1, 2),
        ("Library/Caches/old-large", .caches, nil, 20, 6),
        ("tmp/medium", .temporary, .purgeable(.medium), 5, 1),
        ("Documents/marked-low-old", .persistent, .purgeable(.low), 70, 1),
        ("Library/Caches/medium", .caches, .purgeable(.medium), 1, 5),
    ]

    /// All victims in order, with their reasons and blocks.
    static let golden: [(String, PurgeReason, Int64)] = [
        ("tmp/old", .temporary, 2),  // temporary, low: the least recently used goes first
        ("tmp/new", .temporary, 1),
        ("tmp/medium", .temporary, 1),  // then medium, then high, whatever their age
        ("tmp/high", .temporary, 1),
        ("Library/Caches/old-large", .caches, 6),  // same moment: the larger goes first
        ("Library/Caches/old-a", .caches, 4),  // same size: by path; mark 0 has no effect in Library/Caches
        ("Library/Caches/old-b", .caches, 4),
        ("Library/Caches/new", .caches, 8),
        ("Library/Caches/medium", .caches, 5),
        ("Library/Caches/high", .caches, 3),
        ("Documents/marked-low-old", .purgeable, 1),
        ("Documents/marked-low-new", .purgeable, 2),
        ("Documents/marked-medium", .purgeable, 2),
        ("Documents/marked-high", .purgeable, 1),
    ]

    private func plan(_ goal: PurgeGoal, othersPurgeable: Int64 = 0, limit: Int = .max) -> PurgePlan<String> {
        var queue: [Victim<String>] = Self.files.compactMap { path, tier, mark, lastUse, blocks in
            PurgeRank.of(tier: tier, effectiveMark: mark).map {
                Victim(
                    path, rank: $0,
                    age: PurgeAge(lastUse: Instant(nanoseconds: lastUse), charged: ByteCount(blocks: blocks)))
            }
        }
        queue.sort { a, b in
            if let mine = a.rank, let theirs = b.rank, mine != theirs { return mine < theirs }
            return a.age != b.age ? a.age < b.age : a.file < b.file
        }
        return PurgePlan(goal, othersPurgeable: ByteCount(blocks: othersPurgeable), limit: limit) { step in
            queue.firstIndex { step == nil || $0.rank?.step == step }.map { queue.remove(at: $0) }
        }
    }

    private func expect(
        _ plan: PurgePlan<String>, others: Int64, items: ArraySlice<(String, PurgeReason, Int64)>,
        at location: SourceLocation = #_sourceLocation
    ) {
        #expect(plan.fromOthers == ByteCount(blocks: others), sourceLocation: location)
        #expect(plan.victims.map(\.file) == items.map(\.0), sourceLocation: location)
        #expect(plan.victims.map(\.reason) == items.map(\.1), sourceLocation: location)
        #expect(plan.victims.map(\.bytes) == items.map { ByteCount(blocks: $0.2) }, sourceLocation: location)
        #expect(plan.freed == ByteCount(blocks: items.reduce(others) { $0 + $1.2 }), sourceLocation: location)
    }

    @Test func allTakesOthersAndThenEverythingInOrder() {
        expect(plan(.all, othersPurgeable: 7), others: 7, items: Self.golden[...])
    }

    @Test(
        arguments: [
            (.temporary, 0..<4), (.caches, 4..<10), (.marked, 10..<14),
        ] as [(PurgeStep, Range<Int>)])
    func aStepTakesItsOwnAndNothingOfOthers(step: PurgeStep, range: Range<Int>) {
        expect(plan(.step(step), othersPurgeable: 7), others: 0, items: Self.golden[range])
    }

    /// (blocks short, files taken) without others.purgeable. The sums are 2, 3, 4, 5, 11, 15, 19, 27 and so on.
    @Test(
        arguments: [
            (0, 0), (1, 1), (2, 1), (3, 2), (4, 3), (5, 4), (6, 5), (11, 5), (12, 6), (15, 6), (16, 7), (19, 7),
            (20, 8),
            (27, 8), (28, 9), (32, 9), (33, 10), (35, 10), (36, 11), (37, 12), (38, 12), (39, 13), (40, 13), (41, 14),
        ] as [(Int64, Int)])
    func fileByFileUntilItIsEnough(short: Int64, files: Int) {
        expect(plan(.bytes(ByteCount(blocks: short))), others: 0, items: Self.golden[..<files])
    }

    @Test func whatIsNotThereCannotBeTaken() {
        expect(plan(.bytes(ByteCount(blocks: 42))), others: 0, items: Self.golden[...])
        expect(plan(.bytes(ByteCount(Int64.max)), othersPurgeable: 7), others: 7, items: Self.golden[...])
    }

    /// (bytes short, others.purgeable, blocks taken from it, files)
    @Test(
        arguments: [
            (0, 7, 0, 0), (1, 7, 1, 0), (4096, 7, 1, 0), (4097, 7, 2, 0), (28672, 7, 7, 0), (28673, 7, 7, 1),
            (36864, 7, 7, 1), (36865, 7, 7, 2), (1, 0, 0, 1),
        ] as [(Int64, Int64, Int64, Int)])
    func othersGoFirstAsWholeBlocks(short: Int64, purgeable: Int64, taken: Int64, files: Int) {
        expect(plan(.bytes(ByteCount(short)), othersPurgeable: purgeable), others: taken, items: Self.golden[..<files])
    }

    @Test(arguments: [0, 1, 5, 14, 15]) func aLimitEndsItEarlierAndChangesNothingElse(limit: Int) {
        expect(plan(.all, othersPurgeable: 7, limit: limit), others: 7, items: Self.golden[..<min(limit, 14)])
        let short = PurgeGoal.bytes(ByteCount(blocks: 26))  // 7 from others, then 19 from seven files
        expect(plan(short, othersPurgeable: 7, limit: limit), others: 7, items: Self.golden[..<min(limit, 7)])
    }

    @Test func candidatesThatAreNotNeededAreNotAskedFor() {
        var asked = 0
        let plan = PurgePlan<Int>(.bytes(ByteCount(blocks: 3)), othersPurgeable: ByteCount(blocks: 1)) { step in
            #expect(step == nil)
            asked += 1
            return Victim(
                asked, rank: PurgeRank(step: .caches, urgency: .low),
                age: PurgeAge(lastUse: .distantPast, charged: ByteCount(blocks: 1)))
        }
        #expect(asked == 2)
        #expect(plan.victims.map(\.file) == [1, 2])
    }

    @Test(arguments: [-1, -4096, -4097, -1 << 40] as [Int64]) func lessThanNothingIsNothing(short: Int64) {
        expect(plan(.bytes(ByteCount(short)), othersPurgeable: 7), others: 0, items: [])
    }

    @Test func filesGoWholeEvenIfThatIsMoreThanIsShort() {
        let plan = PurgePlan<Int>(.bytes(ByteCount(1)), othersPurgeable: .zero) { _ in
            Victim(
                1, rank: PurgeRank(step: .marked, urgency: .high),
                age: PurgeAge(lastUse: .distantPast, charged: ByteCount(blocks: 1000)))
        }
        #expect(plan.freed == ByteCount(blocks: 1000))
        #expect(plan.victims.map(\.reason) == [.purgeable])
    }
}
