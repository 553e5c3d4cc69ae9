import PurgeModel
import Testing

/// All numbers are blocks.
@Suite struct CapacityTests {
    struct Row: CustomTestStringConvertible {
        var name: String
        var total, others, othersPurgeable, used, files, low: Int64
        var available, reclaimable, important, opportunistic: Int64
        var testDescription: String { name }

        var capacity: Capacity {
            Capacity(
                total: ByteCount(blocks: total), others: ByteCount(blocks: others),
                othersPurgeable: ByteCount(blocks: othersPurgeable), used: ByteCount(blocks: used),
                reclaimableFiles: ByteCount(blocks: files),
                thresholds: Thresholds(
                    veryLow: .zero, low: ByteCount(blocks: low), nearLow: ByteCount(blocks: low),
                    desired: ByteCount(blocks: low)))
        }
    }

    private static func row(
        _ name: String, _ state: (Int64, Int64, Int64, Int64, Int64, Int64), gives: (Int64, Int64, Int64, Int64)
    ) -> Row {
        Row(
            name: name, total: state.0, others: state.1, othersPurgeable: state.2, used: state.3, files: state.4,
            low: state.5, available: gives.0, reclaimable: gives.1, important: gives.2, opportunistic: gives.3)
    }

    // (total, others, others.purgeable, used, reclaimable files, low threshold)
    //     -> (available, reclaimable, important, opportunistic)
    static let rows = [
        row("empty", (100, 0, 0, 0, 0, 10), gives: (100, 0, 100, 90)),
        row("empty, thresholds off", (100, 0, 0, 0, 0, 0), gives: (100, 0, 100, 100)),
        row("some of each", (100, 30, 5, 40, 15, 10), gives: (30, 20, 50, 20)),
        row("all is reclaimable", (100, 60, 60, 40, 40, 10), gives: (0, 100, 100, 0)),
        row("just full", (100, 30, 0, 70, 0, 10), gives: (0, 0, 0, 0)),
        row("full, with caches", (100, 30, 0, 70, 20, 10), gives: (0, 20, 20, 0)),
        row("free is at the low threshold", (100, 50, 0, 40, 0, 10), gives: (10, 0, 10, 0)),
        row("one block above low", (100, 50, 0, 39, 0, 10), gives: (11, 0, 11, 1)),
        row("below low", (100, 50, 0, 45, 5, 10), gives: (5, 5, 10, 0)),
        row("overcommitted, nothing to purge", (100, 90, 0, 40, 0, 10), gives: (0, 0, 0, 0)),
        row("overcommitted, purging helps not enough", (100, 90, 10, 40, 10, 10), gives: (0, 20, 0, 0)),
        row("overcommitted, purging just makes up for it", (100, 90, 10, 40, 20, 10), gives: (0, 30, 0, 0)),
        row("overcommitted, purging gives more", (100, 90, 10, 40, 21, 10), gives: (0, 31, 1, 0)),
        row("overcommitted by others alone", (100, 150, 150, 0, 0, 10), gives: (0, 150, 100, 0)),
        row("overcommitted by the container alone", (100, 0, 0, 150, 150, 10), gives: (0, 150, 100, 0)),
        row("low above total", (100, 0, 0, 0, 0, 200), gives: (100, 0, 100, 0)),
        row("no device", (0, 0, 0, 0, 0, 0), gives: (0, 0, 0, 0)),
    ]

    @Test(arguments: rows) func available(row: Row) {
        #expect(row.capacity.free == ByteCount(blocks: row.available))
    }
    @Test(arguments: rows) func reclaimable(row: Row) {
        #expect(row.capacity.reclaimable == ByteCount(blocks: row.reclaimable))
    }
    @Test(arguments: rows) func important(row: Row) {
        #expect(row.capacity.important == ByteCount(blocks: row.important))
        #expect(row.capacity.available(for: .important) == ByteCount(blocks: row.important))
    }
    @Test(arguments: rows) func opportunistic(row: Row) {
        #expect(row.capacity.opportunistic == ByteCount(blocks: row.opportunistic))
        #expect(row.capacity.available(for: .opportunistic) == ByteCount(blocks: row.opportunistic))
    }

    @Test func importantIsNeverMoreThanTotal() {
        // Only inconsistent parts lead here; even then statvfs needs a usable number.
        let odd = Capacity(
            total: ByteCount(blocks: 10), reclaimableFiles: ByteCount(blocks: 5), thresholds: .off)
        #expect(odd.important == ByteCount(blocks: 10))
    }

    @Test(
        arguments: [
            (0, 100, 0), (30, 100, 0), (31, 100, 1), (50, 100, 20), (0, 70, 0), (1, 70, 1), (0, 60, 10), (5, 60, 15),
        ] as [(Int64, Int64, Int64)])
    func shortageCountsWhatIsOvercommitted(need: Int64, total: Int64, shortage: Int64) {
        let capacity = Capacity(
            total: ByteCount(blocks: total), others: ByteCount(blocks: 30), used: ByteCount(blocks: 40),
            thresholds: .off)
        #expect(capacity.shortage(for: ByteCount(blocks: need)) == ByteCount(blocks: shortage))
    }
}
