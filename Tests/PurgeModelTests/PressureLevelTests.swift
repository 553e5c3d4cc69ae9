import PurgeModel
import Testing

/// The thresholds are for a total of 1000 blocks: very low 50, low 100, near low 105, desired 110.
@Suite struct PressureLevelTests {
    private static let thresholds = Thresholds(
        veryLow: ByteCount(blocks: 50), low: ByteCount(blocks: 100), nearLow: ByteCount(blocks: 105),
        desired: ByteCount(blocks: 110))

    private func walk(from start: PressureLevel, _ free: [Int64], _ thresholds: Thresholds) -> [PressureLevel] {
        var level = start
        return free.map {
            level = level.following(free: ByteCount(blocks: $0), thresholds: thresholds)
            return level
        }
    }

    @Test func goldenWalk() {
        let steps: [(free: Int64, level: PressureLevel)] = [
            (1000, .normal), (110, .normal), (109, .normal),  // free space below desired is not a level
            (105, .normal), (104, .nearLow), (105, .nearLow), (109, .nearLow),  // nearLow lasts until desired
            (110, .normal), (109, .normal), (104, .nearLow), (100, .nearLow), (99, .low), (100, .low),
            (104, .low), (105, .low), (109, .low), (110, .normal),  // low does not pass through nearLow
            (99, .low), (50, .low), (49, .veryLow), (50, .low), (49, .veryLow), (0, .veryLow), (49, .veryLow),
            (50, .low), (99, .low), (109, .low), (110, .normal), (49, .veryLow), (110, .normal),
            (0, .veryLow), (1000, .normal), (104, .nearLow), (49, .veryLow), (109, .low), (104, .low),
            (1000, .normal),
        ]
        #expect(walk(from: .normal, steps.map(\.free), Self.thresholds) == steps.map(\.level))
    }

    @Test(
        arguments: [
            (.normal, [.veryLow, .veryLow, .low, .low, .nearLow, .nearLow, .normal, .normal, .normal, .normal]),
            (.nearLow, [.veryLow, .veryLow, .low, .low, .nearLow, .nearLow, .nearLow, .nearLow, .normal, .normal]),
            (.low, [.veryLow, .veryLow, .low, .low, .low, .low, .low, .low, .normal, .normal]),
            (.veryLow, [.veryLow, .veryLow, .low, .low, .low, .low, .low, .low, .normal, .normal]),
        ] as [(PressureLevel, [PressureLevel])])
    func everyLevelAtEveryEdge(level: PressureLevel, expected: [PressureLevel]) {
        let edges: [Int64] = [0, 49, 50, 99, 100, 104, 105, 109, 110, 1000]
        #expect(
            edges.map { level.following(free: ByteCount(blocks: $0), thresholds: Self.thresholds) } == expected)
    }

    @Test(arguments: [PressureLevel.normal, .nearLow, .low, .veryLow])
    func offMeansAlwaysNormal(level: PressureLevel) {
        #expect(walk(from: level, [0, 1, 1000], .off) == [.normal, .normal, .normal])
        #expect(level.following(free: .zero, thresholds: .off) == .normal)
    }

    @Test func equalThresholdsHaveNoHysteresis() {
        let size = ByteCount(blocks: 10)
        let same = Thresholds(veryLow: size, low: size, nearLow: size, desired: size)
        #expect(walk(from: .normal, [10, 9, 10, 9, 10], same) == [.normal, .veryLow, .normal, .veryLow, .normal])
    }

    @Test func theLastByteCounts() {
        let edge = ByteCount(409_600)
        let under = PressureLevel.normal.following(free: edge - ByteCount(1), thresholds: Self.thresholds)
        #expect(under == .low)
        #expect(PressureLevel.normal.following(free: edge, thresholds: Self.thresholds) == .nearLow)
    }

    @Test func reclaimsAtALevelOfItsProfile() {
        let levels: [PressureLevel] = [.normal, .nearLow, .low, .veryLow]
        #expect(levels.map { Profile.documented.urgency(at: $0) } == [nil, nil, .high, .high])
        #expect(levels.map { Profile.device.urgency(at: $0) } == [nil, .low, .medium, .high])
    }

    @Test func namesInJSONAndStorageStat() {
        #expect(
            [PressureLevel.normal, .nearLow, .low, .veryLow].map(\.rawValue) == ["normal", "nearLow", "low", "veryLow"])
    }
}
