import Support
import Testing

/// Charged bytes (docs/RULES.md, Charged bytes). Each row is the history of one file and the blocks it ends with.
@Suite struct ReferenceLedgerBlocksTests {
    enum Step: Sendable {
        case write(Int64, Int64)
        case truncate(Int64)
        case allocate(ReferenceLedger.Allocation, Int64, Int64)
    }
    struct History: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var steps: [Step]
        var blocks: Int64
        var size: Int64
    }

    private static func row(_ name: String, _ steps: Step..., blocks: Int64, size: Int64) -> History {
        History(testDescription: name, steps: steps, blocks: blocks, size: size)
    }

    private static let writes = [
        row("nothing", blocks: 0, size: 0),
        row("one byte", .write(0, 1), blocks: 1, size: 1),
        row("no byte", .write(5000, 0), blocks: 0, size: 0),
        row("a block", .write(0, 4096), blocks: 1, size: 4096),
        row("a block and a byte", .write(0, 4097), blocks: 2, size: 4097),
        row("two bytes in two blocks", .write(4095, 2), blocks: 2, size: 4097),
        row("twice the same place", .write(0, 100), .write(50, 100), blocks: 1, size: 150),
        row("past the end leaves a hole", .write(0, 1), .write(40960, 1), blocks: 2, size: 40961),
        row("a hole filled in part", .write(40960, 1), .write(8192, 4097), blocks: 3, size: 40961),
    ]
    private static let truncates = [
        row("growing allocates nothing", .truncate(40960), blocks: 0, size: 40960),
        row("growing within a block", .write(0, 10), .truncate(4000), blocks: 1, size: 4000),
        row("down to a block's edge", .write(0, 40960), .truncate(8192), blocks: 2, size: 8192),
        row("down into a block keeps it", .write(0, 40960), .truncate(8193), blocks: 3, size: 8193),
        row("down to nothing", .write(0, 40960), .truncate(0), blocks: 0, size: 0),
        row("down and up again", .write(0, 40960), .truncate(1), .truncate(40960), blocks: 1, size: 40960),
        row(
            "the same size frees what was preallocated past it", .write(0, 5000),
            .allocate(.keepingSize, 8192, 8192), .truncate(5000), blocks: 2, size: 5000),
        row(
            "growing keeps what was preallocated below the new end and frees the rest", .write(0, 1),
            .allocate(.keepingSize, 4096, 12288), .truncate(8192), blocks: 2, size: 8192),
    ]
    private static let allocations = [
        row("plain grows the file", .allocate(.plain, 0, 10000), blocks: 3, size: 10000),
        row("plain in the middle of nowhere", .allocate(.plain, 8191, 2), blocks: 2, size: 8193),
        row("plain over data", .write(0, 8192), .allocate(.plain, 0, 12288), blocks: 3, size: 12288),
        row("plain below the end keeps the size", .write(40960, 1), .allocate(.plain, 0, 4096), blocks: 2, size: 40961),
        row("keeping the size", .allocate(.keepingSize, 0, 10000), blocks: 3, size: 0),
        row("written into later", .allocate(.keepingSize, 0, 10000), .write(0, 5000), blocks: 3, size: 5000),
        row("zeroing allocates", .allocate(.zeroing, 100, 4096), blocks: 2, size: 4196),
        row("zeroing data keeps it charged", .write(0, 8192), .allocate(.zeroing, 0, 8192), blocks: 2, size: 8192),
        row("zeroing, keeping the size", .allocate(.zeroingKeepingSize, 0, 8192), blocks: 2, size: 0),
        row("zeroing a hole", .truncate(40960), .allocate(.zeroing, 4096, 4096), blocks: 1, size: 40960),
    ]
    private static let punches = [
        row("whole blocks", .write(0, 40960), .allocate(.punchingHole, 4096, 8192), blocks: 8, size: 40960),
        row("edges stay", .write(0, 40960), .allocate(.punchingHole, 4095, 8194), blocks: 8, size: 40960),
        row("parts of two blocks", .write(0, 40960), .allocate(.punchingHole, 4097, 8000), blocks: 10, size: 40960),
        row("a part and a whole", .write(0, 40960), .allocate(.punchingHole, 4097, 8191), blocks: 9, size: 40960),
        row("within a block", .write(0, 40960), .allocate(.punchingHole, 4097, 100), blocks: 10, size: 40960),
        row(
            "to the end: the last counts as whole", .write(0, 5000), .allocate(.punchingHole, 4096, 904), blocks: 1,
            size: 5000),
        row("a byte short of the end", .write(0, 5000), .allocate(.punchingHole, 4096, 903), blocks: 2, size: 5000),
        row("beyond the end", .write(0, 5000), .allocate(.punchingHole, 4096, 999), blocks: 1, size: 5000),
        row("from within the last block", .write(0, 5000), .allocate(.punchingHole, 4097, 9999), blocks: 2, size: 5000),
        row("all of it", .write(0, 5000), .allocate(.punchingHole, 0, 5000), blocks: 0, size: 5000),
        row("written again", .write(0, 8192), .allocate(.punchingHole, 0, 8192), .write(0, 1), blocks: 1, size: 8192),
        row(
            "preallocated past the end, whole blocks only", .write(0, 1), .allocate(.keepingSize, 4096, 12288),
            .allocate(.punchingHole, 4096, 8193), blocks: 2, size: 1),
        row("of nothing", .truncate(40960), .allocate(.punchingHole, 0, 40960), blocks: 0, size: 40960),
    ]

    @Test(arguments: writes + truncates + allocations + punches)
    func charges(history: History) {
        var ledger = ReferenceLedger.container(blocks: 1000)
        let id = ledger.create("Documents/file")
        for step in history.steps {
            switch step {
            case .write(let offset, let count): ledger.write(id, at: offset, count: count)
            case .truncate(let size): ledger.truncate(id, to: size)
            case .allocate(let mode, let offset, let count): ledger.allocate(id, mode, at: offset, count: count)
            }
        }
        #expect(ledger.charged(id) == history.blocks * 4096)
        #expect(ledger.size(id) == history.size)
        #expect(ledger.statBlocks(at: "Documents/file") == history.blocks * 8)
        #expect(ledger.used == history.blocks * 4096)
    }

    @Test func blocksPastTheEndCountAlsoAfterARemount() {
        var ledger = ReferenceLedger.container(blocks: 1000)
        let id = ledger.create("Documents/file")
        ledger.allocate(id, .keepingSize, at: 0, count: 40960)
        ledger.remount()
        #expect(ledger.usedBlocks == 10)
        #expect(ledger.opens(id) == 0)
    }

    @Test func directoriesLinksAndEmptyFilesCostNothing() {
        var ledger = ReferenceLedger.container(blocks: 1000)
        ledger.make("Documents/empty", blocks: 0)
        ledger.makeOther("Documents/link")
        #expect(ledger.used == 0)
        #expect(ledger.statBlocksOfAllFiles == ["Documents/empty": 0])
        #expect(ledger.statBlocks(at: "Documents/link") == 0)
        #expect(ledger.statBlocks(at: "Documents") == 0)
    }
}
