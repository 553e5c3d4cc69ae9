import Testing

@testable import PurgeModel

/// File times as an app sees them after advances of the clock.
struct ClockHistoryTests {
    private static func at(_ seconds: Int64, _ nanoseconds: Int64 = 0) -> FileTime {
        FileTime(seconds: seconds, nanoseconds: nanoseconds)
    }

    /// An advance by 100 s at second 1000, and one by 50 s at second 2000.
    private static var two: ClockHistory {
        var history = ClockHistory()
        history.advance(by: 100, at: at(1000))
        history.advance(by: 50, at: at(2000))
        return history
    }

    private static let shown: [(FileTime, FileTime)] = [
        (at(0), at(-150)), (at(999, 999_999_999), at(849, 999_999_999)), (at(1000), at(950)),
        (at(1999, 5), at(1949, 5)),
        (at(2000), at(2000)), (at(5000), at(5000)), (at(.min), at(.min)), (at(.max), at(.max)),
    ]
    @Test(arguments: shown) func aStampLooksOlderByWhatCameAfterIt(stamp: FileTime, time: FileTime) {
        #expect(Self.two.shown(stamp) == time)
    }

    private static let stamps: [(FileTime, FileTime?)] = [
        (at(2000), at(2000)), (at(9000), at(9000)), (at(1999, 999_999_999), nil), (at(1950), nil),
        (at(1949, 999_999_999), at(1999, 999_999_999)), (at(950), at(1000)), (at(949, 999_999_999), nil),
        (at(850), nil), (at(849, 999_999_999), at(999, 999_999_999)), (at(0), at(150)), (at(-1000), at(-850)),
        (at(.min), at(.min + 150)), (at(.max), at(.max)),
    ]
    @Test(arguments: stamps) func theStampThatLooksLikeATime(time: FileTime, stamp: FileTime?) {
        #expect(Self.two.stamp(shownAs: time) == stamp)
    }

    @Test func withoutAnAdvanceNothingChanges() {
        var history = ClockHistory()
        history.advance(by: 0, at: Self.at(1000))
        #expect(history.isEmpty && history.shown(Self.at(5)) == Self.at(5))
        #expect(history.stamp(shownAs: Self.at(5)) == Self.at(5))
    }

    /// Advances at the moment of the last one, or before it because the machine's clock was set back, are added to the last one.
    @Test func momentsThatAreNotInOrderAreOne() {
        var history = Self.two
        history.advance(by: 7, at: Self.at(2000))
        history.advance(by: 1, at: Self.at(1500))
        #expect(history.shown(Self.at(1999)) == Self.at(1941) && history.shown(Self.at(2000)) == Self.at(2000))
        #expect(history.shown(Self.at(0)) == Self.at(-158))
        #expect(history.text == "1000.000000000+100 2000.000000000+58")
    }

    /// Beyond the limit, neighbouring advances are merged, but never the last one. Stamps keep their order, and stamps older than
    /// all advances keep their age.
    @Test func thereIsALimit() throws {
        var random = SeededGenerator(seed: 18)
        var (history, moment, sum) = (ClockHistory(), Int64(0), Int64(0))
        for round in 0..<3000 {
            moment += Int64(1 + random.below(50))
            let step = round % 100 == 7 ? 100_000 : Int64(1 + random.below(9))
            history.advance(by: step, at: Self.at(moment, Int64(random.below(1_000_000_000))))
            sum += step
            #expect(history.age(of: Self.at(moment + 1)) == 0)
            #expect(history.age(of: Self.at(moment - 1)) >= step)
            #expect(history.age(of: Self.at(-1)) == sum)
        }
        #expect(history.text.split(separator: " ").count == ClockHistory.limit)
        var last = history.shown(Self.at(-1))
        for second in 0...moment {
            let next = history.shown(Self.at(second))
            #expect(next > last)
            last = next
        }
        // The text must fit into device.json, which has a limit of 64 KiB.
        #expect(history.text.utf8.count < 40_000)
        #expect(ClockHistory(text: history.text) == history)
    }

    /// Merging makes files from between two advances look younger. The error stays small as advances accumulate.
    @Test func whatIsMergedIsSpreadEvenly() {
        let (count, step) = (5000, Int64(60))
        var history = ClockHistory()
        for round in 1...count { history.advance(by: step, at: Self.at(Int64(round * 10))) }
        #expect(history.age(of: Self.at(9)) == Int64(count) * step)
        for made in 1...count {
            let missing = Int64(count - made) * step - history.age(of: Self.at(Int64(made * 10 + 5)))
            #expect((0...step * 16).contains(missing), "made after \(made) advances: \(missing)")
        }
    }

    /// A single long advance among many short ones is not merged.
    @Test func aLongAdvanceIsKept() {
        var history = ClockHistory()
        for round in 1...3000 {
            history.advance(by: round == 500 ? 1_000_000 : 60, at: Self.at(Int64(round * 10)))
        }
        #expect(history.age(of: Self.at(4995)) - history.age(of: Self.at(5005)) >= 1_000_000)
    }

    private static let damaged = [
        "", " ", "1000.000000000", "1000.000000000+0", "1000.000000000+-5", "1000.000000000+4294967297",
        "1000.000000000+05", "1000.000000000+5 ", " 1000.000000000+5", "1000.000000000+5  1001.000000000+5",
        "1000.000000000+5 1000.000000000+5", "1000.000000000+5 999.000000000+5", "1000.000000000+5,2000.000000000+5",
        "1000.000000000+4294967296 2000.000000000+1", "1000.000000000+9223372036854775807", "1000.000000000+5+5",
        String(repeating: "1.000000000+1 ", count: 100_000),
    ]
    @Test(arguments: damaged) func aDamagedTextIsRefused(text: String) {
        #expect(ClockHistory(text: text) == nil)
    }

    @Test func itsText() {
        #expect(Self.two.text == "1000.000000000+100 2000.000000000+50")
        #expect(ClockHistory(text: Self.two.text) == Self.two)
    }
}
