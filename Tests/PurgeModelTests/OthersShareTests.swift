import PurgeModel
import Testing

@Suite struct OthersShareTests {
    @Test(
        arguments: [
            ("0", 0), ("50", 50), ("100", 100), ("50%", 50), ("007", 7), ("", nil), ("%", nil), ("101", nil),
            ("-1", nil),
            ("+1", nil), ("1.5", nil), ("50%%", nil), (" 5", nil), ("5 ", nil), ("٣", nil),
            ("99999999999999999999", nil),
        ] as [(String, Int?)])
    func isAWholeNumber(text: String, percent: Int?) { #expect(OthersShare.percent(text: text) == percent) }

    /// Plans a purge for a shortfall of `short` bytes, with `files` candidates of one block each.
    private func plan(_ short: Int64, purgeable: Int64, files: Int, _ share: OthersShare, limit: Int = .max)
        -> PurgePlan<Int>
    {
        var next = 0
        return PurgePlan(
            .bytes(ByteCount(short)), othersPurgeable: ByteCount(blocks: purgeable), share: share, limit: limit
        ) { _ in
            guard next < files else { return nil }
            next += 1
            return Victim(
                next, rank: PurgeRank(step: .caches, urgency: .low),
                age: PurgeAge(lastUse: .distantPast, charged: ByteCount(blocks: 1)))
        }
    }

    /// Columns: percent, bytes short, others.purgeable, and files available. Expected: taken from others first, files purged,
    /// taken from others last. Amounts of others are in blocks; each file is one block.
    @Test(
        arguments: [
            (100, 4096, 9, 9, 1, 0, 0), (0, 4096, 9, 9, 0, 1, 0), (50, 8192, 9, 9, 1, 1, 0), (50, 4096, 9, 9, 1, 0, 0),
            (1, 40960, 9, 99, 1, 9, 0), (99, 409_600, 100, 99, 99, 1, 0), (50, 40960, 2, 99, 2, 8, 0),
            (50, 40960, 20, 2, 5, 2, 3), (0, 40960, 20, 2, 0, 2, 8), (0, 40961, 20, 2, 0, 2, 9),
            (0, 40960, 3, 2, 0, 2, 3),
            (50, -1, 9, 9, 0, 0, 0), (0, -1, 9, 9, 0, 0, 0), (50, .max, 9, 2, 9, 2, 0),
        ] as [(Int, Int64, Int64, Int, Int64, Int, Int64)])
    func whoGivesHowMuch(row: (Int, Int64, Int64, Int, Int64, Int, Int64)) {
        let plan = plan(row.1, purgeable: row.2, files: row.3, OthersShare(percent: row.0))
        #expect(plan.fromOthers == ByteCount(blocks: row.4))
        #expect(plan.victims.count == row.5)
        #expect(plan.restOfOthers == ByteCount(blocks: row.6))
        #expect(plan.freed == ByteCount(blocks: row.4 + Int64(row.5) + row.6))
    }

    /// A purge in steps of three files takes as many files, and as much of others, as a purge in a single step.
    @Test(arguments: [0, 25, 50, 100]) func stepsTakeWhatOneDoes(percent: Int) {
        var (short, purgeable, left) = (Int64(20), Int64(15), 30)
        var (others, files, leftToFiles) = (Int64(0), 0, ByteCount.zero)
        while short > 0 {
            let share = OthersShare(percent: percent, leftToFiles: leftToFiles)
            let plan = plan(short * 4096, purgeable: purgeable, files: left, share, limit: 3)
            let taken = (plan.fromOthers + plan.restOfOthers).wholeBlocks
            (others, files) = (others + taken, files + plan.victims.count)
            (short, purgeable) = (short - plan.freed.wholeBlocks, purgeable - taken)
            (left, leftToFiles) = (left - plan.victims.count, plan.leftToFiles)
        }
        let expected: [Int: (Int64, Int)] = [0: (0, 20), 25: (5, 15), 50: (10, 10), 100: (15, 5)]
        #expect(others == expected[percent]?.0 && files == expected[percent]?.1)
    }
}
