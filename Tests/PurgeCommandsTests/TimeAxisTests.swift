import PurgeModel
import Testing

@testable import PurgeCommands

struct TimeAxisTests {
    private let second: Int64 = 1_000_000_000

    @Test func evenTimesAreEven() {
        let axis = TimeAxis((0...20).map { $0 * second })
        #expect([0, 5, 10, 20].map { axis.x($0 * second) } == [0, 250, 500, 1000])
        #expect(axis.pauses.isEmpty)
        #expect(axis.time(at: 0.5) == 10 * second && axis.time(at: 0) == 0 && axis.time(at: 1) == 20 * second)
        #expect(axis.x(-5 * second) == 0 && axis.x(99 * second) == 1000)
    }

    /// Three days between two times of ten seconds get a tenth of the width.
    @Test func aLongPauseIsShort() throws {
        let late: Int64 = 259_200
        let axis = TimeAxis(((0...10).map { $0 * second }) + ((0...10).map { ($0 + late) * second }))
        let pause = try #require(axis.pauses.first)
        #expect(axis.pauses.count == 1 && pause.seconds == late - 10)
        #expect(axis.x(pause.to) - axis.x(pause.from) == 100)
        #expect(axis.x(pause.from) == 450)
    }

    @Test(arguments: [[], [5], [5, 5, 5], [1, 2], [1, 2, 1 << 62], [.min, .max], [.min, 0, .max]] as [[Int64]])
    func extremes(times: [Int64]) {
        let axis = TimeAxis(times)
        for time in times + [.min, 0, .max] { #expect((0...1000).contains(axis.x(time))) }
        for position in [0, 0.3, 1] { #expect((axis.begin...axis.end).contains(axis.time(at: position))) }
    }

    @Test func momentsAreJoined() {
        var moments = Moments()
        for index in 0..<100_000 { moments.add(Int64(index) * 1000 + (index > 50_000 ? 1 << 50 : 0), ByteCount(2)) }
        #expect(moments.spans.count <= 2048)
        #expect(moments.spans.reduce(0) { $0 + $1.count } == 100_000)
        #expect(moments.spans.reduce(.zero) { $0 + $1.bytes } == ByteCount(200_000))
        // The pause in the middle is kept.
        #expect(!moments.spans.contains { $0.first < 1 << 49 && $0.last > 1 << 49 })
    }

    @Test func newest() {
        var newest = Newest<Int>(3)
        for number in 0..<1000 { newest.add(number) }
        #expect(newest.elements == [999, 998, 997] && newest.count == 1000)
    }
}
