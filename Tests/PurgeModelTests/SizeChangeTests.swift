import PurgeModel
import Testing

@Suite struct SizeChangeTests {
    @Test(
        arguments: [
            ("40G", .to(ByteCount(42_949_672_960))), ("0", .to(.zero)), ("+1G", .by(ByteCount(1_073_741_824))),
            ("-64KB", .by(ByteCount(-64000))), ("+0", .by(.zero)), ("-0", .by(.zero)),
        ] as [(String, SizeChange)])
    func readsChanges(text: String, change: SizeChange) {
        #expect(SizeChange(text: text) == change)
    }

    @Test(arguments: [
        "", "+", "-", "++1", "--1", "+-1", "-+1", "+ 1", "1+", "1-", " 1", "+1 ", "−1", "+x", "off", "1\n", "10%",
    ])
    func refusesTheRest(text: String) {
        #expect(SizeChange(text: text) == nil)
    }

    @Test(
        arguments: [
            (.to(ByteCount(7)), 100, 7), (.to(.zero), 100, 0), (.by(ByteCount(7)), 100, 107),
            (.by(ByteCount(-7)), 100, 93), (.by(ByteCount(-100)), 100, 0), (.by(.zero), 100, 100),
            (.by(ByteCount(1 << 59)), 1 << 59, 1 << 60),
        ] as [(SizeChange, Int64, Int64)])
    func applies(change: SizeChange, current: Int64, result: Int64) {
        #expect(change.applied(to: ByteCount(current)) == ByteCount(result))
    }

    @Test(arguments: [(-101, 100), (-1, 0)] as [(Int64, Int64)])
    func refusesToGoBelowZero(difference: Int64, current: Int64) {
        #expect(SizeChange.by(ByteCount(difference)).applied(to: ByteCount(current)) == nil)
    }

    @Test(arguments: [(1, 1 << 60), (1 << 60, 1 << 60), (.max, .max)] as [(Int64, Int64)])
    func refusesToGoAboveTheLargestSize(difference: Int64, current: Int64) {
        #expect(SizeChange.by(ByteCount(difference)).applied(to: ByteCount(current)) == nil)
    }
}
