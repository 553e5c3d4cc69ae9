import PurgeModel
import Testing

struct PurgeableFlagsTests {
    private static let accepted: [(bits: UInt64, mark: PurgeMark)] = [
        (0x10200, .purgeable(.low)), (0x10400, .purgeable(.medium)), (0x10800, .purgeable(.high)),
        (0x10000, .purgeable(.low)), (0x10001, .purgeable(.low)), (0x108FF, .purgeable(.high)),
        (0, .notPurgeable), (0x01, .notPurgeable), (0x12005, .purgeable(.low)), (0x12800, .purgeable(.high)),
    ]

    @Test(arguments: accepted) func whatTheyAskFor(row: (bits: UInt64, mark: PurgeMark)) {
        #expect(PurgeableFlags(bits: row.bits).mark == row.mark)
    }

    @Test(arguments: [
        0x200, 0x801, 0x10600, 0x10E00, 0x100, 0x10100, 0x2000, 0x2005, 0x12600, 0x20000, 0x1_0000_0000, 1 << 63,
        UInt64.max,
    ])
    func refused(bits: UInt64) { #expect(PurgeableFlags(bits: bits).mark == nil) }

    @Test func whatReadsBack() {
        for (urgency, bits) in [(Urgency.low, UInt64(0x10200)), (.medium, 0x10400), (.high, 0x10800)] {
            #expect(PurgeableFlags(.purgeable(urgency), isDirectory: false).bits == bits)
            #expect(PurgeableFlags(.purgeable(urgency), isDirectory: true).bits == bits + 0x2000)
        }
        for mark in [PurgeMark.notPurgeable, nil] {
            #expect(
                PurgeableFlags(mark, isDirectory: false).bits == 0 && PurgeableFlags(mark, isDirectory: true).bits == 0)
        }
    }
}
