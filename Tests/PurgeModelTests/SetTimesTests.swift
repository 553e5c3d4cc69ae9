import Testing

@testable import PurgeModel

struct SetTimesTests {
    private static func at(_ seconds: Int64) -> FileTime { FileTime(seconds: seconds, nanoseconds: 7) }

    @Test func aStampCountsForItsKind() {
        var set = SetTimes()
        set.set(Self.at(5), .modification, clock: 60)
        #expect(set.clock(of: Self.at(5), .modification) == 60)
        #expect(set.clock(of: Self.at(5), .access) == nil)
        #expect(set.clock(of: Self.at(6), .modification) == nil)
        #expect(set.text == "m5.000000007+60")
    }

    /// The stamp before the newest is still known, because a call may have read it before the new one was set.
    @Test func theOneBeforeIsStillKnown() {
        var set = SetTimes()
        for second in 1...3 as ClosedRange<Int64> { set.set(Self.at(second), .access, clock: second * 10) }
        #expect([1, 2, 3].map { set.clock(of: Self.at($0), .access) } == [nil, 20, 30])
        #expect(set.text == "a3.000000007+30 a2.000000007+20")
        #expect(SetTimes(text: set.text) == set)
        set.set(Self.at(3), .access, clock: 40)
        #expect([2, 3].map { set.clock(of: Self.at($0), .access) } == [20, 40])
    }

    @Test func aStampThatSpeaksForItselfEndsIt() {
        var set = SetTimes()
        set.set(Self.at(1), .access, clock: 10)
        set.set(Self.at(1), .modification, clock: 10)
        set.set(Self.at(2), .access, clock: nil)
        #expect(set.clock(of: Self.at(1), .access) == 10)
        set.set(Self.at(1), .access, clock: nil)
        #expect(set.text == "m1.000000007+10" && set.clock(of: Self.at(1), .access) == nil)
        set.set(Self.at(1), .modification, clock: nil)
        #expect(set.isEmpty && set.text == "")
    }

    @Test func theLongestText() {
        var set = SetTimes()
        let stamp = FileTime(seconds: .min, nanoseconds: 999_999_999)
        for kind in SetTimes.Kind.allCases {
            set.set(stamp, kind, clock: Device.mostSecondsAhead)
            set.set(stamp.earlier(by: -1), kind, clock: Device.mostSecondsAhead)
        }
        #expect(set.text.utf8.count <= SetTimes.longestText)
        #expect(SetTimes(text: set.text) == set)
    }

    static let damaged = [
        "", "a", "a5.000000007", "a5.000000007+", "a5.000000007+-1", "a5.000000007+4294967297", "x5.000000007+60",
        "5.000000007+60", "a5.000000007+60 ", " a5.000000007+60", "m5.000000007+60 a5.000000007+60",
        "a5.000000007+60 a5.000000007+70", "a1.000000007+60 a2.000000007+60 a3.000000007+60",
        "a1.000000007+60 m2.000000007+60 a3.000000007+60", "a5.000000007+60\n", "a5.7+60", "a5.1000000000+60",
        "a9223372036854775808.000000000+60", "a5.000000007+9223372036854775808", "\u{FFFD}",
        String(repeating: "a", count: 70_000),
    ]
    @Test(arguments: damaged) func aDamagedTextIsRefused(text: String) {
        #expect(SetTimes(text: text) == nil)
    }
}
