import PurgeModel
import Testing

@Suite struct ThresholdSettingsTests {
    /// A total of 100 blocks, for which the documented thresholds are 5, 10, 11 (10.5 rounded up) and 11 blocks.
    private static let total = ByteCount(409_600)

    private func settings(after lines: String, from old: ThresholdSettings = .documented) -> ThresholdSettings? {
        ThresholdChange(text: lines).flatMap { old.applying($0, total: Self.total) }
    }

    private func blocks(after lines: String, from old: ThresholdSettings = .documented) -> [Int64]? {
        settings(after: lines, from: old).map {
            let now = $0.resolved(total: Self.total)
            return [now.veryLow, now.low, now.nearLow, now.desired].map { $0.bytes / 4096 }
        }
    }

    @Test func documentedValues() {
        let now = ThresholdSettings.documented.resolved(total: ByteCount(68_719_476_736))
        #expect(now.veryLow.bytes == 3_435_974_656)
        #expect(now.low.bytes == 6_871_949_312)
        #expect(now.nearLow.bytes == 7_215_546_368)
        #expect(now.desired.bytes == 7_559_143_424)
    }

    @Test(
        arguments: [
            ("verylow 1%", [1, 10, 11, 11]),
            ("low 20480", [5, 5, 11, 11]),
            ("desired 50%", [5, 10, 11, 50]),
            ("desired 50%\nnearlow 40%\nlow 30%\nverylow 20%", [20, 30, 40, 50]),
            ("verylow 0\nlow 0\nnearlow 0\ndesired 0", [0, 0, 0, 0]),
            ("verylow 11%\nlow 11%", [11, 11, 11, 11]),  // equal thresholds are in order
            ("low 9.01%", [5, 10, 11, 11]),
            ("desired 100%", [5, 10, 11, 100]),
            ("desired 1G", [5, 10, 11, 262_144]),  // more than total: never reached
            ("off", [0, 0, 0, 0]),
            ("low=9%", [5, 9, 11, 11]),
            ("verylow=20%,low=30%,nearlow=40%,desired=50%", [20, 30, 40, 50]),
            ("desired=50%,nearlow=163840,low=30.00%,verylow=80K", [20, 30, 40, 50]),
            ("verylow=0,low=0,nearlow=0,desired=0", [0, 0, 0, 0]),
        ] as [(String, [Int64])])
    func appliesLines(lines: String, expected: [Int64]) {
        #expect(blocks(after: lines) == expected)
    }

    @Test(arguments: [
        "", "\n", "low", "low ", "low 5% 6%", "LOW 9%", "veryLow 1%", "nearLow 10%", "lowest 1%", "low x",
        "low -1", "low 101%", "off off", "OFF", "off\nlow 5%", "low off", "low 9%\n", "low 9%\n\nverylow 1%",
        "low 9%\nlow 9%", "=", "low=", "=5%", "low==5%", "low=5%=6%", "low=9%,", ",low=9%", "low=9%,,verylow=1%",
        "low=9%, verylow=1%", "low =9%", "low= 9%", "low=9%\nverylow=1%", "low=9%,verylow 1%", "low 9%,verylow 1%",
        "low=9%,low=9%", "LOW=9%", "low=9%\n", "low:9%", "off,low=9%", "low=off", "off=5%",
    ])
    func refusesBadLines(lines: String) {
        #expect(blocks(after: lines) == nil)
    }

    @Test(arguments: [
        "verylow 11%", "low 4%", "low 12%", "nearlow 9%", "nearlow 12%", "desired 10%", "desired 0",
        "verylow 60%\nlow 50%\nnearlow 70%\ndesired 80%", "low=12%", "verylow=60%,low=50%,nearlow=70%,desired=80%",
    ])
    func refusesWhatDoesNotRise(lines: String) {
        #expect(blocks(after: lines) == nil)
    }

    @Test(arguments: ["verylow 1%\nlow 4x", "verylow 1%\nbogus 2%", "verylow 1%\ndesired 1%", "verylow=1%,low=4x"])
    func oneBadLineUndoesAll(lines: String) {
        #expect(blocks(after: lines) == nil)
        #expect(blocks(after: "desired 12%") == [5, 10, 11, 12])
    }

    @Test func theOrderIsJudgedAfterAllLines() {
        // Line by line, the first threshold would be out of order.
        #expect(blocks(after: "verylow 20%\nlow 20%\nnearlow 20%\ndesired 20%") == [20, 20, 20, 20])
    }

    @Test func percentagesFollowTheTotalAndSizesDoNot() throws {
        let settings = try #require(self.settings(after: "verylow 8192\ndesired 20%"))
        let later = settings.resolved(total: ByteCount(blocks: 1000))
        #expect(later.veryLow.bytes == 8192)
        #expect(later.low.bytes == 409_600)
        #expect(later.nearLow.bytes == 430_080)
        #expect(later.desired.bytes == 819_200)
    }

    /// Sizes stay while percentages follow the total, but a threshold is never below the one before it.
    @Test(
        arguments: [
            ("verylow 5", 100, [5, 10, 11, 11]),
            ("verylow 5", 40, [5, 5, 5, 5]),  // low 4, near low 4.2, desired 4.4
            ("verylow 5", 46, [5, 5, 5, 6]),  // low 4.6, near low 4.83, desired 5.06
            ("desired 11", 1000, [50, 100, 105, 105]),
            ("nearlow 11", 1000, [50, 100, 100, 110]),
            ("low 9", 1000, [50, 50, 105, 110]),
            ("low 9", 10, [1, 9, 9, 9]),
        ] as [(String, Int64, [Int64])])
    func staysInOrderWhateverTheTotalBecomes(line: String, total: Int64, expected: [Int64]) throws {
        let words = line.split(separator: " ")
        let blocks = try #require(Int64(words[1]))
        let settings = try #require(self.settings(after: "\(words[0]) \(blocks * 4096)"))
        let now = settings.resolved(total: ByteCount(blocks: total))
        #expect([now.veryLow, now.low, now.nearLow, now.desired].map { $0.bytes / 4096 } == expected)
    }

    @Test func linesChangeOnlyWhatTheyName() {
        #expect(blocks(after: "desired 1%", from: .off) == [0, 0, 0, 1])
    }
}
