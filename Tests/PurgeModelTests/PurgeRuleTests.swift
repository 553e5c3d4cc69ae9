import PurgeModel
import Testing

@Suite struct PurgeRuleTests {
    /// The facts about a file, and the expected verdict when a purge needs room, empties a place, or names the file.
    struct Row: CustomTestStringConvertible, Sendable {
        var facts: PurgeFacts
        var room, place, file: PurgeVerdict
        var testDescription: String { "\(facts)" }

        init(
            _ kind: PurgeFacts.Kind = .file, in tier: Tier, _ mark: PurgeMark? = nil, blocks: Int64 = 1,
            with change: (inout PurgeFacts) -> Void = { _ in }, room: PurgeVerdict, place: PurgeVerdict,
            file: PurgeVerdict
        ) {
            facts = PurgeFacts(kind: kind, tier: tier, mark: mark, blocks: blocks)
            change(&facts)
            (self.room, self.place, self.file) = (room, place, file)
        }

        /// Creates a row with the same verdict for all three.
        init(
            _ kind: PurgeFacts.Kind = .file, in tier: Tier, _ mark: PurgeMark? = nil, blocks: Int64 = 1,
            with change: (inout PurgeFacts) -> Void = { _ in }, always verdict: PurgeVerdict
        ) {
            self.init(kind, in: tier, mark, blocks: blocks, with: change, room: verdict, place: verdict, file: verdict)
        }
    }

    private static func rank(_ step: PurgeStep, _ urgency: Urgency = .low) -> PurgeVerdict {
        .candidate(PurgeRank(step: step, urgency: urgency))
    }

    private static let table: [Row] = [
        // Places and marks.
        Row(in: .temporary, always: rank(.temporary)),
        Row(in: .temporary, .notPurgeable, always: rank(.temporary)),
        Row(in: .temporary, .purgeable(.high), always: rank(.temporary, .high)),
        Row(in: .caches, always: rank(.caches)),
        Row(in: .caches, .notPurgeable, always: rank(.caches)),
        Row(in: .caches, .purgeable(.medium), always: rank(.caches, .medium)),
        Row(in: .persistent, always: .passedOver([.notPurgeable])),
        Row(in: .persistent, .notPurgeable, always: .passedOver([.notPurgeable])),
        Row(in: .persistent, .purgeable(.low), always: rank(.marked)),
        Row(in: .persistent, .purgeable(.high), always: rank(.marked, .high)),
        // Files that free nothing.
        Row(in: .caches, blocks: 0, room: .passedOver([.empty]), place: rank(.caches), file: rank(.caches)),
        Row(
            .symbolicLink, in: .temporary, blocks: 0, room: .passedOver([.empty]), place: rank(.temporary),
            file: rank(.temporary)),
        Row(
            in: .persistent, blocks: 0, room: .passedOver([.notPurgeable, .empty]),
            place: .passedOver([.notPurgeable]), file: .passedOver([.notPurgeable])),
        Row(
            .other, in: .temporary, blocks: 0, room: .passedOver([.special, .empty]), place: .passedOver([.special]),
            file: .passedOver([.special])),
        // Where purging leaves tombstones, an empty file already is one.
        Row(in: .caches, with: { $0.leavesTombstone = true }, always: rank(.caches)),
        Row(in: .caches, blocks: 0, with: { $0.leavesTombstone = true }, always: .passedOver([.empty])),
        Row(
            .symbolicLink, in: .temporary, blocks: 0, with: { $0.leavesTombstone = true },
            room: .passedOver([.empty]), place: rank(.temporary), file: rank(.temporary)),
        // Obstacles.
        Row(in: .caches, with: { $0.isOpen = true }, always: .passedOver([.open])),
        Row(in: .caches, with: { $0.isBusy = true }, always: .passedOver([.busy])),
        Row(in: .caches, with: { $0.hasSeveralNames = true }, always: .passedOver([.severalNames])),
        Row(in: .caches, with: { $0.isLinkedOutside = true }, always: .passedOver([.linkedOutside])),
        Row(in: .caches, with: { $0.isGone = true }, always: .passedOver([.noEntry])),
        Row(
            in: .caches, with: { $0.isStuck = true }, room: .passedOver([.failed]), place: .passedOver([.failed]),
            file: rank(.caches)),
        // With all obstacles at once, every reason that counts for the aim is reported.
        Row(
            .other, in: .persistent, blocks: 0,
            with: {
                ($0.isGone, $0.hasSeveralNames, $0.isLinkedOutside) = (true, true, true)
                ($0.isOpen, $0.isBusy, $0.isStuck) = (true, true, true)
            },
            room: .passedOver([
                .noEntry, .special, .notPurgeable, .severalNames, .linkedOutside, .empty, .open, .busy, .failed,
            ]),
            place: .passedOver([
                .noEntry, .special, .notPurgeable, .severalNames, .linkedOutside, .open, .busy, .failed,
            ]),
            file: .passedOver([.noEntry, .special, .notPurgeable, .severalNames, .linkedOutside, .open, .busy])),
    ]

    @Test(arguments: table) func verdicts(row: Row) {
        #expect(PurgeRule.verdict(on: row.facts, for: .room) == row.room)
        #expect(PurgeRule.verdict(on: row.facts, for: .place) == row.place)
        #expect(PurgeRule.verdict(on: row.facts, for: .file) == row.file)
    }

    /// A file whose name or attributes are changing still counts as reclaimable; no other skipped file does.
    @Test(
        arguments: [
            (rank(.caches), true), (.passedOver([.busy]), true), (.passedOver([.open]), false),
            (.passedOver([.open, .busy]), false), (.passedOver([.busy, .failed]), false),
            (.passedOver([.empty]), false),
        ] as [(PurgeVerdict, Bool)])
    func whatCountsAsReclaimable(verdict: PurgeVerdict, isReclaimable: Bool) {
        #expect(verdict.isReclaimable == isReclaimable)
    }

    @Test(
        arguments: [
            (.file, 1, .temporary, .temporary), (.file, 1, .caches, .caches), (.file, 1, .marked, .purgeable),
            (.file, 0, .temporary, .command), (.symbolicLink, 0, .caches, .command),
        ] as [(PurgeFacts.Kind, Int64, PurgeStep, PurgeReason)])
    func reasonOfAPurge(kind: PurgeFacts.Kind, blocks: Int64, step: PurgeStep, reason: PurgeReason) {
        let facts = PurgeFacts(kind: kind, tier: .temporary, blocks: blocks)
        let rank = PurgeRank(step: step, urgency: .low)
        #expect(rank.reason(freeing: ByteCount(blocks: facts.blocks)) == reason)
    }

    /// Commands report the first reason, so the order is part of the contract.
    @Test func reasonsComeInTheirOrder() {
        let all = PurgeRefusal.allCases.reduce(into: PurgeRefusals()) { $0.insert(PurgeRefusals($1)) }
        #expect(
            all.all == [
                .noEntry, .special, .notPurgeable, .severalNames, .linkedOutside, .empty, .open, .busy, .failed,
            ])
        #expect(PurgeVerdict.passedOver([.busy, .open]).refusal == .open)
        #expect(Self.rank(.caches).refusal == nil)
        #expect(PurgeRefusals().first == nil)
    }
}
