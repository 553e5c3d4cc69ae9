import Support
import Testing

/// The numbers for each class, and the space that a write takes, in blocks.
@Suite struct ReferenceLedgerCapacityTests {
    /// Creates a ledger of 100 blocks: others 30 (5 purgeable), Documents 20, Caches 10 and 4 open, tmp 6; free 30.
    private func ledger(_ thresholds: ReferenceLedger.Thresholds = .off) -> ReferenceLedger {
        var ledger = ReferenceLedger.container(blocks: 100)
        ledger.setOthers(30 * 4096)
        ledger.setOthersPurgeable(5 * 4096)
        ledger.make("Documents/kept", blocks: 20)
        ledger.make("Library/Caches/a", blocks: 10)
        ledger.make("Library/Caches/open", blocks: 4)
        ledger.open("Library/Caches/open")
        ledger.make("tmp/a", blocks: 6)
        ledger.setThresholds(thresholds)
        return ledger
    }

    @Test func numbersAtOnce() {
        let numbers = ledger(.documented).numbers
        #expect(numbers.total == 409_600)
        #expect(numbers.others == 122_880)
        #expect(numbers.othersPurgeable == 20480)
        #expect(numbers.used == 163_840)
        #expect(numbers.available == 122_880)
        #expect(numbers.important == 208_896)
        #expect(numbers.opportunistic == 81920)
        #expect(numbers.reclaimable == 86016)
        #expect(numbers.temporary == .init(bytes: 24576, files: 1))
        #expect(numbers.caches == .init(bytes: 57344, files: 2))
        #expect(numbers.persistent == .init(bytes: 81920, files: 1))
    }

    @Test(
        arguments: [
            ("", 30), ("Documents", 51), ("Documents/kept", 51), ("Library", 51), ("Library/Caches", 20), ("tmp", 20),
            ("tmp/a", 20), ("Library/Caches/open", 20), ("Library/Preferences", 51),
        ] as [(String, Int64)])
    func statvfsByPlace(path: String, blocks: Int64) {
        let ledger = ledger(.documented)
        #expect(ledger.statvfsAvailable(at: path) == blocks * 4096)
        #expect(ledger.statvfsFree(at: path) == max(blocks, 30) * 4096)
    }

    @Test func statvfsFollowsMarks() {
        var ledger = ledger(.documented)
        ledger.makeDirectory("Documents/d")
        ledger.mark("Documents/d", .high)
        #expect(ledger.statvfsAvailable(at: "Documents/d") == 20 * 4096)
    }

    @Test func totalRoundsDownAndTheOthersUp() {
        var ledger = ReferenceLedger(total: 40961)
        ledger.setOthers(4097)
        ledger.setOthersPurgeable(1)
        #expect(ledger.total == 40960)
        #expect(ledger.others == 8192)
        #expect(ledger.othersPurgeable == 4096)
        #expect(ledger.setOthersPurgeable(8193) == nil)
        ledger.setOthers(0)
        #expect(ledger.othersPurgeable == 0)  // shrinks with others
    }

    @Test(
        arguments: [
            (30, 0, []), (31, 1, []), (35, 5, []), (36, 5, ["tmp/a"]), (41, 5, ["tmp/a"]),
            (42, 5, ["tmp/a", "Library/Caches/a"]), (51, 5, ["tmp/a", "Library/Caches/a"]),
        ] as [(Int64, Int64, [String])])
    func anImportantWritePurgesJustEnough(blocks: Int64, others: Int64, purged: [String]) {
        var ledger = ledger()
        let id = ledger.create("Documents/new")
        let outcome = ledger.write(id, at: 0, count: blocks * 4096)
        #expect(outcome.bytes == blocks * 4096)
        #expect(outcome.purge.fromOthers == others * 4096)
        #expect(outcome.purge.victims.map(\.path) == purged)
        #expect(ledger.used + ledger.others <= ledger.total)
        #expect(purged.allSatisfy { ledger.fileID(at: $0) == nil })
    }

    @Test func aWriteTakesWhatFitsAndTheNextIsRefused() {
        var ledger = ledger()
        let id = ledger.create("Documents/new")
        let outcome = ledger.write(id, at: 100, count: 60 * 4096)
        #expect(outcome.bytes == 51 * 4096 - 100)
        #expect(ledger.charged(id) == 51 * 4096)
        #expect(ledger.write(id, at: 51 * 4096, count: 1) == .init(bytes: 0))
        #expect(ledger.write(id, at: 0, count: 51 * 4096).bytes == 51 * 4096)  // writing in place always works
        #expect(ledger.write(id, at: 51 * 4096 - 1, count: 2).bytes == 1)
    }

    @Test func onlyNewBlocksCount() {
        var ledger = ledger()
        let id = ledger.create("Documents/new")
        ledger.write(id, at: 4096, count: 4096)
        ledger.write(id, at: 12288, count: 4096)
        #expect(ledger.important == 49 * 4096)
        #expect(ledger.write(id, at: 0, count: 200 * 4096).bytes == 51 * 4096)
    }

    @Test func anOpportunisticWriteNeverPurgesNorTakesTheCushion() {
        var ledger = ledger(.documented)
        let id = ledger.create("tmp/new")
        #expect(ledger.write(id, at: 0, count: 21 * 4096) == .init(bytes: 20 * 4096))
        #expect(ledger.write(id, at: 20 * 4096, count: 1) == .init(bytes: 0))
        #expect(ledger.available == 10 * 4096)
    }

    @Test func aMappedPageIsWrittenWholeOrNot() {
        var ledger = ledger(.documented)
        let id = ledger.create("tmp/new")
        #expect(ledger.write(id, at: 0, count: 21 * 4096, isMapped: true).bytes == 0)
        #expect(ledger.write(id, at: 0, count: 20 * 4096, isMapped: true).bytes == 20 * 4096)
    }

    @Test func allocatingIsAllOrNothing() {
        var ledger = ledger()
        let id = ledger.create("Documents/new")
        #expect(ledger.allocate(id, .plain, at: 0, count: 51 * 4096 + 1) == .init(bytes: 0))
        #expect(ledger.charged(id) == 0)
        #expect(ledger.fileID(at: "tmp/a") != nil)
        #expect(ledger.allocate(id, .zeroing, at: 0, count: 51 * 4096).bytes == 51 * 4096)
        #expect(ledger.allocate(id, .punchingHole, at: 0, count: 4096).bytes == 4096)
    }

    @Test func overcommittedNothingFitsButInPlace() {
        var ledger = ledger()
        ledger.setOthers(90 * 4096)  // purges everything purgeable: 24 blocks stay
        #expect(ledger.numbers.available == 0)
        #expect(ledger.important == 0)
        let id = ledger.open("Documents/kept")
        #expect(ledger.write(id, at: 0, count: 21 * 4096).bytes == 20 * 4096)
    }
}
