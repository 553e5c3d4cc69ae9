import Support
import Testing

@Suite struct ReferenceLedgerTreeTests {
    private typealias Usage = ReferenceLedger.Usage

    @Test(
        arguments: [
            ("a", .persistent), ("Documents/a", .persistent), ("Documents/tmp", .persistent),
            ("Library/a", .persistent),
            ("Library/Application Support/Caches", .persistent), ("Library/Caches/a", .caches), ("tmp/a", .temporary),
            ("Caches", .persistent), ("Library/tmp", .persistent),
        ] as [(String, ReferenceLedger.Tier)])
    func tierByPlace(path: String, tier: ReferenceLedger.Tier) {
        var ledger = ReferenceLedger.container(blocks: 100)
        let id = ledger.make(path, blocks: 1)
        #expect(ledger.tier(id) == tier)
    }

    @Test func aTreeMovesFromTierToTierInOneStep() {
        var ledger = ReferenceLedger.container(blocks: 100)
        ledger.makeDirectory("tmp/a")
        ledger.makeDirectory("tmp/a/b")
        ledger.make("tmp/a/one", blocks: 1)
        ledger.make("tmp/a/b/two", blocks: 2)
        ledger.rename("tmp/a", "Library/Caches/a")
        #expect(ledger.usage(of: .temporary) == Usage())
        #expect(ledger.usage(of: .caches) == Usage(bytes: 12288, files: 2))
        ledger.rename("Library/Caches", "Documents/old")
        #expect(ledger.usage(of: .caches) == Usage())
        #expect(ledger.usage(of: .persistent) == Usage(bytes: 12288, files: 2))
        ledger.rename("Documents/old", "Library/Caches")
        #expect(ledger.usage(of: .caches) == Usage(bytes: 12288, files: 2))
        #expect(ledger.statBlocksOfAllFiles == ["Library/Caches/a/one": 8, "Library/Caches/a/b/two": 16])
    }

    @Test func movingLibraryMovesItsCaches() {
        var ledger = ReferenceLedger.container(blocks: 100)
        ledger.make("Library/Caches/a", blocks: 1)
        ledger.rename("Library", "Documents/Library")
        #expect(ledger.usage(of: .persistent) == Usage(bytes: 4096, files: 1))
    }

    @Test func severalNamesHaveTheMostDurableTier() {
        var ledger = ReferenceLedger.container(blocks: 100)
        let id = ledger.make("tmp/a", blocks: 3)
        ledger.link("tmp/a", "Library/Caches/a")
        #expect(ledger.tier(id) == .caches)
        ledger.link("tmp/a", "Documents/a")
        #expect(ledger.tier(id) == .persistent)
        #expect(ledger.usedBlocks == 3)
        ledger.unlink("Documents/a")
        #expect(ledger.tier(id) == .caches)
        ledger.unlink("Library/Caches/a")
        #expect(ledger.tier(id) == .temporary)
    }

    @Test func anUnlinkedOpenFileStaysChargedWhereItWas() {
        var ledger = ReferenceLedger.container(blocks: 100)
        let id = ledger.make("Library/Caches/a", blocks: 3)
        ledger.open("Library/Caches/a")
        ledger.open("Library/Caches/a")
        ledger.unlink("Library/Caches/a")
        #expect(ledger.usage(of: .caches) == Usage(bytes: 12288, files: 1))
        #expect(ledger.unlinkedBytes == 12288)
        #expect(ledger.reclaimable == 0)
        ledger.close(id)
        #expect(ledger.usedBlocks == 3)
        ledger.close(id)
        #expect(ledger.used == 0)
        #expect(ledger.usage(of: .caches) == Usage())
    }

    @Test func aRenameOverAnOpenFileLeavesItCharged() {
        var ledger = ReferenceLedger.container(blocks: 100)
        ledger.make("tmp/new", blocks: 1)
        let old = ledger.make("Documents/file", blocks: 2)
        ledger.open("Documents/file")
        ledger.rename("tmp/new", "Documents/file")
        #expect(ledger.usedBlocks == 3)
        #expect(ledger.usage(of: .persistent) == Usage(bytes: 12288, files: 2))
        #expect(ledger.statBlocksOfAllFiles == ["Documents/file": 8])
        ledger.close(old)
        #expect(ledger.usedBlocks == 1)
    }

    @Test func aRenameOverAClosedFileFreesIt() {
        var ledger = ReferenceLedger.container(blocks: 100)
        ledger.make("tmp/new", blocks: 1)
        ledger.make("Documents/file", blocks: 2)
        ledger.rename("tmp/new", "Documents/file")
        #expect(ledger.usedBlocks == 1)
    }

    @Test func aRenameBetweenTwoNamesOfOneFileDoesNothing() {
        var ledger = ReferenceLedger.container(blocks: 100)
        let id = ledger.make("Documents/a", blocks: 1)
        ledger.link("Documents/a", "tmp/a")
        ledger.rename("Documents/a", "tmp/a")
        #expect(ledger.names(id).sorted() == ["Documents/a", "tmp/a"])
    }

    @Test func anExchangeSwapsTiers() {
        var ledger = ReferenceLedger.container(blocks: 100)
        let kept = ledger.make("Documents/a", blocks: 1)
        ledger.makeDirectory("tmp/d")
        let other = ledger.make("tmp/d/b", blocks: 1)
        ledger.exchange("Documents/a", "tmp/d")
        #expect(ledger.tier(kept) == .temporary)
        #expect(ledger.tier(other) == .persistent)
    }

    @Test func aDirectoryReplacesAnEmptyOne() {
        var ledger = ReferenceLedger.container(blocks: 100)
        ledger.makeDirectory("Documents/d")
        ledger.makeDirectory("tmp/d")
        ledger.make("tmp/d/a", blocks: 1)
        ledger.rename("tmp/d", "Documents/d")
        #expect(ledger.statBlocksOfAllFiles == ["Documents/d/a": 8])
        ledger.unlink("Documents/d/a")
        ledger.removeDirectory("Documents/d")
        #expect(ledger.used == 0)
    }

    @Test func aRemountForgetsWhatHasNoName() {
        var ledger = ReferenceLedger.container(blocks: 100)
        ledger.make("tmp/a", blocks: 2)
        ledger.open("tmp/a")
        ledger.unlink("tmp/a")
        ledger.remount()
        #expect(ledger.used == 0)
    }

    @Test func openingToTruncateEmpties() {
        var ledger = ReferenceLedger.container(blocks: 100)
        let id = ledger.make("tmp/a", blocks: 2)
        ledger.open("tmp/a", truncating: true)
        #expect(ledger.charged(id) == 0)
    }
}
