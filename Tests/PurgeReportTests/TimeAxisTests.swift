import PurgeModel
import Testing

@testable import PurgeReport

struct TimeAxisTests {
    private let second: Int64 = 1_000_000_000

    @Test func evenTimesAreEven() {
        let axis = TimeAxis((0...20).map { $0 * second })
        #expect([0, 5, 10, 20].map { axis.x($0 * second) } == [0, 250, 500, 1000])
        #expect(axis.pauses.isEmpty)
        #expect(axis.time(at: 0.5) == 10 * second && axis.time(at: 0) == 0 && axis.time(at: 1) == 20 * second)
        #expect(axis.x(-5 * second) == 0 && axis.x(99 * second) == 1000)
    }

    /// Three days between two spans of ten seconds get a tenth of the width.
    @Test func aLongPauseIsShort() throws {
        let late: Int64 = 259_200
        let axis = TimeAxis(((0...10).map { $0 * second }) + ((0...10).map { ($0 + late) * second }))
        let pause = try #require(axis.pauses.first)
        #expect(axis.pauses.count == 1 && pause.seconds == late - 10)
        #expect(axis.x(pause.to) - axis.x(pause.from) == 100)
        #expect(axis.x(pause.from) == 450)
    }

    /// Gaps of less than a minute are drawn to scale, and the last moment has a width.
    @Test func shortTimesAreEven() {
        let axis = TimeAxis([0, 10_000_000, 20_000_000, 50 * second], tail: 0.02)
        #expect([0, 25, 50].map { axis.x($0 * second) } == [0, 490, 980])
        #expect(axis.pauses.isEmpty && axis.even == 50e9)
        #expect(axis.x(50 * second + 1) == 1000 && axis.time(at: 1) == 50 * second)
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
        // Every span is shorter than a millisecond, and none crosses the gap in the middle.
        #expect(moments.spans.allSatisfy { $0.last - $0.first < 1_000_000 })
        #expect(!moments.spans.contains { $0.first < 1 << 49 && $0.last > 1 << 49 })
    }

    /// Short bad states remain visible in a long history.
    @Test func statesAreJoined() {
        var states = States<Int>(most: 100) { $0 }
        for index in 0..<10_001 { states.add(Int64(index), index % 1000 == 500 ? 2 : index % 2) }
        #expect(states.changes.count <= 200 && states.count == 10_001)
        #expect(states.changes.count { $0.state == 2 } == 10)
        #expect(states.changes.last?.state == 0 && states.changes.last?.time == 10_000)
        #expect(states.changes.first?.time == 0)
    }

    /// A lane shows states shorter than a column, and the worst state in each column.
    @Test func lanesShowTheWorst() throws {
        var history = ReportHistory()
        let second: Int64 = 1_000_000_000
        for index in 0..<50_000 {
            let time = Instant(nanoseconds: Int64(index) * second).iso8601
            let level = index == 25_000 ? "veryLow" : index % 2 == 0 ? "normal" : "nearLow"
            history.add(Event(time: time, type: .pressure, reason: level))
        }
        let lanes = EventLanes(history, TimeAxis((0...100).map { Int64($0) * 500 * second })).html.map(\.markup)
            .joined()
        #expect(lanes.contains(#"<rect class="near-low" x="0""#))
        let places = [496, 498, 500].map { "<rect class=\"very-low\" x=\"\($0)\" y=\"0\" width=\"2\"" }
        #expect(places.contains { lanes.contains($0) }, "\(lanes)")
        #expect(lanes.contains("50000 changes of the level, at last to near low"))
    }

    @Test func newest() {
        var newest = Newest<Int>(3)
        for number in 0..<1000 { newest.add(number) }
        #expect(newest.elements == [999, 998, 997] && newest.count == 1000)
    }
}
