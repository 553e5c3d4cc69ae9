import PurgeModel
import Testing

@Suite struct TimeSpanTests {
    @Test(
        arguments: [
            ("30s", 30), ("5m", 300), ("2h", 7200), ("3d", 259_200), ("1w", 604_800), ("0s", 0), ("0w", 0),
            ("90m", 5400),
            ("007d", 604_800), ("4294967296s", 4_294_967_296), ("7101w", 4_294_684_800),
        ] as [(String, Int64)])
    func readsDurations(text: String, seconds: Int64) {
        #expect(TimeSpan(text: text)?.seconds == seconds)
    }

    @Test(arguments: [
        "", "s", "3", "0", "3 d", " 3d", "3d ", "3D", "3y", "3ms", "3d4h", "-3d", "+3d", "1.5h", "٣d", "3d\n",
        "4294967297s", "7102w", "9223372036854775807w", "99999999999999999999s",
    ])
    func refusesWhatIsNoDuration(text: String) {
        #expect(TimeSpan(text: text) == nil)
    }

    @Test(
        arguments: [
            (0, "0s"), (1, "1s"), (59, "59s"), (60, "1m"), (90, "90s"), (3600, "1h"), (5400, "90m"), (86400, "1d"),
            (90000, "25h"), (259_200, "3d"), (604_800, "1w"), (691_200, "8d"), (1_209_600, "2w"), (2_592_000, "30d"),
        ] as [(Int64, String)])
    func printsAsAUserWouldWrite(seconds: Int64, text: String) {
        #expect(TimeSpan(seconds: seconds).text == text)
    }

    @Test func ordersByLength() {
        #expect(TimeSpan(seconds: 59) < TimeSpan(seconds: 60))
    }
}
