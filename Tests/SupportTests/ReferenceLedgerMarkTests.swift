import Support
import Testing

/// isPurgeable: the files that have it, and its effect (docs/XATTRS.md).
@Suite struct ReferenceLedgerMarkTests {
    private func ledger() -> ReferenceLedger {
        var ledger = ReferenceLedger.container(blocks: 100)
        ledger.makeDirectory("Documents/d")
        ledger.makeDirectory("Documents/d/e")
        ledger.make("Documents/d/e/a", blocks: 4)
        return ledger
    }
    private static let file = "Documents/d/e/a"

    /// (marks by path, whether the file in Documents is important)
    @Test(
        arguments: [
            ([:], true),
            ([file: .low], false), ([file: .notPurgeable], true),
            (["Documents/d/e": .medium], false), (["Documents/d": .high], false), (["Documents": .low], false),
            (["": .low], false),
            (["Documents/d": .low, "Documents/d/e": .notPurgeable], true),
            (["Documents/d": .notPurgeable, "Documents/d/e": .low], false),
            (["Documents/d/e": .low, file: .notPurgeable], true),
            (["Documents/d/e": .notPurgeable, file: .low], false),
            (["": .low, "Documents": .notPurgeable], true),
            (["tmp": .low, "Library": .low], true),
        ] as [([String: ReferenceLedger.Mark], Bool)])
    func theNearestOwnValueWins(marks: [String: ReferenceLedger.Mark], isImportant: Bool) throws {
        var ledger = ledger()
        for (path, mark) in marks { ledger.mark(path, mark) }
        let id = try #require(ledger.fileID(at: Self.file))
        #expect(ledger.isImportant(id) == isImportant)
        #expect(ledger.reclaimable == (isImportant ? 0 : 16384))
    }

    @Test func aMarkActsAsLongAsItIsSet() {
        var ledger = ledger()
        ledger.mark("Documents/d", .low)
        ledger.mark("Documents/d", nil)
        #expect(ledger.reclaimable == 0)
    }

    @Test func aMarkComesAndGoesWithTheDirectory() throws {
        var ledger = ledger()
        ledger.makeDirectory("Documents/marked")
        ledger.mark("Documents/marked", .low)
        ledger.rename("Documents/d", "Documents/marked/d")
        #expect(ledger.reclaimable == 16384)
        ledger.rename("Documents/marked/d/e/a", "Documents/a")
        #expect(ledger.reclaimable == 0)
    }

    @Test func aFileOfSeveralNamesHasOnlyItsOwn() throws {
        var ledger = ledger()
        let id = try #require(ledger.fileID(at: Self.file))
        ledger.mark("Documents/d", .low)
        ledger.link(Self.file, "Documents/d/second")
        #expect(ledger.isImportant(id))
        ledger.mark(Self.file, .medium)
        #expect(!ledger.isImportant(id))
        #expect(ledger.reclaimable == 0)  // skipped as hard-linked
        ledger.mark(Self.file, nil)
        ledger.unlink(Self.file)
        #expect(ledger.reclaimable == 16384)  // the remaining name inherits again
    }

    @Test(arguments: ["tmp/a", "Library/Caches/a"]) func zeroTakesNothingOutOfTmpAndCaches(path: String) {
        var ledger = ledger()
        let id = ledger.make(path, blocks: 2)
        ledger.mark(path, .notPurgeable)
        #expect(!ledger.isImportant(id))
        #expect(ledger.reclaimable == 8192)
    }

    @Test func anUnlinkedFileKeepsItsLastClass() throws {
        var ledger = ledger()
        ledger.mark("Documents/d", .low)
        let id = ledger.open(Self.file)
        ledger.unlink(Self.file)
        ledger.mark("Documents/d", nil)
        #expect(!ledger.isImportant(id))
    }
}
