import PurgeModel
import Testing

@Suite struct ExtentSetTests {
    @Test func runsThatTouchBecomeOne() {
        var set = ExtentSet(0..<2)
        #expect(set.insert(4..<6) == 2)
        #expect(set.runs == [0..<2, 4..<6])
        #expect(set.insert(2..<4) == 2)
        #expect(set.runs == [0..<6])
        #expect(set.count == 6)
    }

    @Test func insertCountsOnlyWhatIsNew() {
        var set = ExtentSet(runs: [0..<2, 4..<6, 8..<10])
        #expect(set.insert(1..<9) == 4)
        #expect(set.insert(3..<5) == 0)
        #expect(set.runs == [0..<10])
    }

    @Test func removeSplitsARun() {
        var set = ExtentSet(0..<10)
        #expect(set.remove(3..<5) == 2)
        #expect(set.runs == [0..<3, 5..<10])
        #expect(set.remove(2..<6) == 2)
        #expect(set.runs == [0..<2, 6..<10])
        #expect(set.remove(2..<6) == 0)
        #expect(set.remove(0..<100) == 6)
        #expect(set.runs.isEmpty && set.count == 0)
    }

    @Test func emptyRangesChangeNothing() {
        var set = ExtentSet(0..<4)
        #expect(set.insert(2..<2) == 0)
        #expect(set.insert(9..<9) == 0)
        #expect(set.remove(2..<2) == 0)
        #expect(set == ExtentSet(0..<4))
    }

    @Test(
        arguments: [
            (0..<10, 0, 2), (0..<10, 1, 3), (0..<10, 2, 6), (0..<10, 3, 7), (0..<10, 4, 10), (0..<10, 99, 10),
            (2..<10, 0, 2), (3..<10, 0, 3), (4..<10, 0, 6), (5..<6, 0, 6), (0..<2, 0, 2), (7..<7, 0, 7),
            (20..<30, 4, 24),
        ] as [(Range<Int64>, Int64, Int64)])
    func longestBeginningThatMissesAtMost(range: Range<Int64>, limit: Int64, end: Int64) {
        let set = ExtentSet(runs: [0..<2, 4..<6, 8..<10])
        #expect(set.prefixEnd(of: range, missingAtMost: limit) == end)
    }

    @Test(
        arguments: [
            ([], 0, true), ([], 1, false), ([0..<3], 3, true), ([0..<3], 2, false), ([0..<3], 4, false),
            ([0..<3], 0, false),
            ([1..<3], 3, false), ([0..<1, 2..<3], 3, false),
        ] as [([Range<Int64>], Int64, Bool)])
    func isExactlyBelow(runs: [Range<Int64>], end: Int64, answer: Bool) {
        #expect(ExtentSet(runs: runs).isExactly(below: end) == answer)
    }

    @Test func worksAtTheLargestBlock() {
        let last = Int64.max / 4096
        var set = ExtentSet(last..<last + 1)
        #expect(set.contains(last) && !set.contains(last - 1) && !set.contains(last + 1))
        #expect(set.insert(0..<last + 1) == last)
        #expect(set.missing(in: 0..<last + 2) == 1)
        #expect(set.remove(1..<last) == last - 1)
        #expect(set.runs == [0..<1, last..<last + 1])
    }

    @Test func gapsAreWhatIsNotThere() {
        let set = ExtentSet(runs: [2..<4, 6..<7, 10..<20])
        #expect(set.gaps(in: 0..<12).runs == [0..<2, 4..<6, 7..<10])
        #expect(set.gaps(in: 3..<7).runs == [4..<6])
        #expect(set.gaps(in: 12..<15).runs == [] && ExtentSet().gaps(in: 3..<5).runs == [3..<5])
        #expect(set.gaps(in: 19..<Int64.max).runs == [20..<Int64.max])
    }
}
