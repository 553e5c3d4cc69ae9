import Support
import Testing

@Suite struct ReferenceLedgerPurgeTests {
    private typealias Victim = ReferenceLedger.Victim

    /// Creates files of every kind in the order of last use; all but `tmp/empty` have one block.
    private func ledger() -> ReferenceLedger {
        var ledger = ReferenceLedger.container(blocks: 100)
        for path in ["Documents/kept", "Documents/high", "Documents/low", "Library/Caches/1", "Library/Caches/high"] {
            ledger.make(path, blocks: 1)
        }
        for path in ["Library/Caches/2", "tmp/high", "tmp/1", "tmp/open", "tmp/medium", "tmp/2", "tmp/linked"] {
            ledger.make(path, blocks: 1)
        }
        ledger.make("tmp/empty", blocks: 0)
        ledger.open("tmp/open")
        ledger.link("tmp/linked", "tmp/linked-too")
        for path in ["Documents/high", "Library/Caches/high", "tmp/high"] { ledger.mark(path, .high) }
        ledger.mark("tmp/medium", .medium)
        ledger.mark("Documents/low", .low)
        ledger.mark("tmp/1", .notPurgeable)
        return ledger
    }

    static let order: [(String, ReferenceLedger.Reason)] = [
        ("tmp/1", .temporary), ("tmp/2", .temporary), ("tmp/medium", .temporary), ("tmp/high", .temporary),
        ("Library/Caches/1", .caches), ("Library/Caches/2", .caches), ("Library/Caches/high", .caches),
        ("Documents/low", .purgeable), ("Documents/high", .purgeable),
    ]

    @Test func theWholeOrderWithReasons() {
        #expect(ledger().purgeOrder == Self.order.map { Victim(path: $0.0, reason: $0.1, bytes: 4096) })
    }

    @Test(
        arguments: [(0, 0), (1, 1), (4096, 1), (4097, 2), (8 * 4096, 8), (9 * 4096, 9), (50 * 4096, 9)]
            as [(Int64, Int)])
    func takesFileByFileUntilItIsEnough(bytes: Int64, files: Int) {
        var ledger = ledger()
        #expect(ledger.purge(bytes: bytes).victims.map(\.path) == Self.order[..<files].map(\.0))
        #expect(ledger.usedBlocks == 12 - Int64(files))
    }

    @Test func openingAndWritingAreUsesClosingAndTruncatingAreNot() {
        var ledger = ReferenceLedger.container(blocks: 100)
        let ids = ["tmp/a", "tmp/b", "tmp/c"].map { ledger.make($0, blocks: 2) }
        ledger.truncate(ids[0], to: 4096)
        #expect(ledger.purgeOrder.map(\.path) == ["tmp/a", "tmp/b", "tmp/c"])
        ledger.close(ledger.open("tmp/a"))
        #expect(ledger.purgeOrder.map(\.path) == ["tmp/b", "tmp/c", "tmp/a"])
        ledger.open("tmp/b")
        ledger.open("tmp/c")
        ledger.write(ids[1], at: 0, count: 1)
        ledger.allocate(ids[2], .zeroing, at: 0, count: 1)
        ledger.close(ids[1])
        ledger.close(ids[2])
        #expect(ledger.purgeOrder.map(\.path) == ["tmp/a", "tmp/c", "tmp/b"])
    }

    @Test func whatWasRefusedIsNoUse() {
        var ledger = ReferenceLedger.container(blocks: 4)
        let a = ledger.make("tmp/a", blocks: 2)
        ledger.open("tmp/a")
        ledger.make("tmp/b", blocks: 2)
        #expect(ledger.write(a, at: 8192, count: 1).bytes == 0)
        ledger.close(a)
        #expect(ledger.purgeOrder.map(\.path) == ["tmp/a", "tmp/b"])
    }

    @Test func aChangeOfOthersPurgesUntilAllFits() {
        var ledger = ledger()
        let purge = ledger.setOthers(90 * 4096)  // 12 are used: two too many
        #expect(purge.victims.map(\.path) == ["tmp/1", "tmp/2"])
        #expect(ledger.available == 0)
        #expect(ledger.setOthersPurgeable(10 * 4096) == .init())
        #expect(ledger.setTotal(97 * 4096) == .init(fromOthers: 3 * 4096))
        #expect(ledger.others == 87 * 4096)
        #expect(ledger.othersPurgeable == 7 * 4096)
    }

    @Test func pressurePurgesUntilDesired() {
        var ledger = ledger()
        ledger.setThresholds(.documented)  // 5, 10, 11 and 11 of 100
        #expect(ledger.pressure == .normal)
        let id = ledger.create("Documents/big")
        ledger.write(id, at: 0, count: 78 * 4096)
        #expect(ledger.available == 10 * 4096)
        #expect(ledger.pressure == .nearLow)
        #expect(ledger.purgeUnderPressure().isEmpty)
        ledger.write(id, at: 78 * 4096, count: 4096)
        #expect(ledger.pressure == .low)
        #expect(ledger.purgeUnderPressure().victims.map(\.path) == ["tmp/1", "tmp/2"])
        #expect(ledger.available == 11 * 4096)
        #expect(ledger.pressure == .normal)
    }

    @Test func aThresholdThatIsOvertakenCountsAsMuchAsTheOneBelowIt() {
        var ledger = ReferenceLedger.container(blocks: 100)
        var thresholds = ReferenceLedger.Thresholds.documented
        thresholds.veryLow = .bytes(9 * 4096)
        ledger.setThresholds(thresholds)
        #expect(ledger.lowThreshold == 10 * 4096)
        ledger.setTotal(50 * 4096)
        #expect(ledger.lowThreshold == 9 * 4096)
    }

    @Test func theLevelLastsUntilDesired() {
        var ledger = ReferenceLedger.container(blocks: 100)
        ledger.setThresholds(
            .init(
                veryLow: .bytes(5 * 4096), low: .bytes(10 * 4096), nearLow: .bytes(15 * 4096),
                desired: .bytes(20 * 4096)))
        let id = ledger.create("Documents/file")
        var levels: [ReferenceLedger.Pressure] = []
        for free in [20, 15, 14, 15, 19, 20, 19, 9, 10, 19, 4, 5, 19, 20, 0, 20] as [Int64] {
            ledger.truncate(id, to: (100 - free) * 4096)
            ledger.allocate(id, .plain, at: 0, count: (100 - free) * 4096)
            levels.append(ledger.pressure)
        }
        #expect(
            levels == [
                .normal, .normal, .nearLow, .nearLow, .nearLow, .normal, .normal, .low, .low, .low, .veryLow, .low,
                .low, .normal, .veryLow, .normal,
            ])
    }
}
