import PurgeModel
import Testing

struct PurgeableFlagsTests {
    private static let accepted: [(bits: UInt64, mark: PurgeMark)] = [
        (0x10200, .purgeable(.low)), (0x10400, .purgeable(.medium)), (0x10800, .purgeable(.high)),
        (0x10000, .purgeable(.low)), (0x10001, .purgeable(.low)), (0x108FF, .purgeable(.high)),
        (0, .notPurgeable), (0x01, .notPurgeable),
    ]

    @Test(arguments: accepted) func whatTheyAskFor(row: (bits: UInt64, mark: PurgeMark)) {
        #expect(PurgeableFlags(bits: row.bits).mark == row.mark)
    }

    @Test(arguments: [0x200, 0x801, 0x10600, 0x10E00, 0x100, 0x10100, 0x20000, 0x1_0000_0000, 1 << 63, UInt64.max])
    func refused(bits: UInt64) { #expect(PurgeableFlags(bits: bits).mark == nil) }

    @Test func whatReadsBack() {
        #expect(PurgeableFlags(.purgeable(.low)).bits == 0x10200)
        #expect(PurgeableFlags(.purgeable(.medium)).bits == 0x10400)
        #expect(PurgeableFlags(.purgeable(.high)).bits == 0x10800)
        #expect(PurgeableFlags(.notPurgeable).bits == 0 && PurgeableFlags(nil).bits == 0)
    }
}
