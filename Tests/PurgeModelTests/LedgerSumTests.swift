import PurgeModel
import Testing

/// Compares the ledger with a recount of all files after each change.
@Suite struct LedgerSumTests {
    private struct File {
        var blocks: Int64
        var account: Ledger.Account
        var purgeClass = PurgeClass.caches
        var isCounted = false
        var isOffered = false
        var isHeld = false
    }

    @Test func isEmptyAtFirst() {
        let ledger = Ledger()
        #expect(ledger.used == .zero && ledger.reclaimable == .zero && ledger.held == .zero)
        #expect(Tier.allCases.allSatisfy { ledger.usage(of: $0) == .init() })
        #expect(ledger.marked == .init() && ledger.excluded == .init())
    }

    @Test func aFileCountsInItsTierAndByItsFlags() {
        var ledger = Ledger()
        ledger.enter(ByteCount(8192), as: .init(tier: .caches, isMarked: true))
        ledger.enter(ByteCount(4096), as: .init(tier: .persistent, isExcluded: true))
        #expect(ledger.used == ByteCount(12288))
        #expect(ledger.usage(of: .caches) == .init(bytes: ByteCount(8192), files: 1))
        #expect(ledger.usage(of: .persistent) == .init(bytes: ByteCount(4096), files: 1))
        #expect(ledger.usage(of: .temporary) == .init())
        #expect(ledger.marked == .init(bytes: ByteCount(8192), files: 1))
        #expect(ledger.excluded == .init(bytes: ByteCount(4096), files: 1))
    }

    @Test func whatIsSetAsideIsUsedAndOfNoTier() {
        var ledger = Ledger()
        ledger.enter(ByteCount(8192), as: .init(tier: .temporary))
        ledger.withdraw(ByteCount(8192), as: .init(tier: .temporary))
        ledger.setAside(ByteCount(8192))
        #expect(ledger.used == ByteCount(8192))
        #expect(ledger.usage(of: .temporary) == .init())
        ledger.returnSetAside(ByteCount(8192))
        #expect(ledger == Ledger())
    }

    @Test(arguments: 0..<200) func equalsARecount(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var ledger = Ledger()
        var files = (0..<8).map { _ in Self.file(&random) }
        for step in 0..<200 {
            Self.change(&files[random.below(files.count)], &ledger, &random)
            let fault = Self.difference(ledger, files)
            #expect(fault == nil, "seed \(seed), step \(step): \(fault ?? "")")
            if fault != nil { return }
        }
        for index in files.indices where files[index].isCounted { Self.withdraw(&files[index], &ledger) }
        #expect(ledger == Ledger())
    }

    private static func file(_ random: inout SeededGenerator) -> File {
        File(
            blocks: Int64(random.below(5)),
            account: .init(
                tier: Tier.allCases[random.below(3)], isMarked: random.oneIn(2), isExcluded: random.oneIn(2)),
            purgeClass: PurgeClass.allCases[random.below(PurgeClass.allCases.count)])
    }

    private static func change(_ file: inout File, _ ledger: inout Ledger, _ random: inout SeededGenerator) {
        guard file.isCounted else {
            file = Self.file(&random)
            ledger.enter(ByteCount(blocks: file.blocks), as: file.account)
            file.isCounted = true
            return
        }
        let bytes = ByteCount(blocks: file.blocks)
        switch random.below(4) {
        case 0: withdraw(&file, &ledger)
        case 1 where !file.isOffered:
            let difference = Int64(random.below(5)) - file.blocks
            ledger.charge(ByteCount(blocks: difference), as: file.account)
            file.blocks += difference
        case 2:
            if file.isHeld { ledger.release(bytes, as: file.purgeClass) }
            if file.isOffered {
                ledger.retract(bytes, as: file.purgeClass)
            } else {
                ledger.offer(bytes, as: file.purgeClass)
            }
            (file.isHeld, file.isOffered) = (false, !file.isOffered)
        default:
            guard file.isOffered else { return }
            if file.isHeld {
                ledger.release(bytes, as: file.purgeClass)
            } else {
                ledger.hold(bytes, as: file.purgeClass)
            }
            file.isHeld.toggle()
        }
    }

    private static func withdraw(_ file: inout File, _ ledger: inout Ledger) {
        let bytes = ByteCount(blocks: file.blocks)
        if file.isHeld { ledger.release(bytes, as: file.purgeClass) }
        if file.isOffered { ledger.retract(bytes, as: file.purgeClass) }
        ledger.withdraw(bytes, as: file.account)
        (file.isCounted, file.isOffered, file.isHeld) = (false, false, false)
    }

    private static func difference(_ ledger: Ledger, _ files: [File]) -> String? {
        func bytes(_ counts: (File) -> Bool) -> Int64 {
            files.reduce(0) { $0 + ($1.isCounted && counts($1) ? $1.blocks * 4096 : 0) }
        }
        func number(_ counts: (File) -> Bool) -> Int64 {
            Int64(files.count { $0.isCounted && counts($0) })
        }
        var rows: [(String, Int64, Int64)] = [
            ("used", ledger.used.bytes, bytes { _ in true }),
            ("reclaimable", ledger.reclaimable.bytes, bytes(\.isOffered)),
            ("held", ledger.held.bytes, bytes(\.isHeld)),
            ("marked", ledger.marked.bytes.bytes, bytes(\.account.isMarked)),
            ("marked files", ledger.marked.files, number(\.account.isMarked)),
            ("excluded", ledger.excluded.bytes.bytes, bytes(\.account.isExcluded)),
            ("excluded files", ledger.excluded.files, number(\.account.isExcluded)),
        ]
        for each in PurgeClass.allCases {
            rows.append(
                ("\(each)", ledger.reclaimableByClass[each].bytes, bytes { $0.isOffered && $0.purgeClass == each }))
            rows.append(("held \(each)", ledger.heldByClass[each].bytes, bytes { $0.isHeld && $0.purgeClass == each }))
        }
        for tier in Tier.allCases {
            rows.append(("\(tier)", ledger.usage(of: tier).bytes.bytes, bytes { $0.account.tier == tier }))
            rows.append(("\(tier) files", ledger.usage(of: tier).files, number { $0.account.tier == tier }))
        }
        return rows.first { $0.1 != $0.2 }.map { "\($0.0) is \($0.1), and \($0.2) by count" }
    }
}
