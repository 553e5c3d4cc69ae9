import PurgeModel
import Testing

@Suite struct InstantTextTests {
    /// The expected seconds are from date(1).
    @Test(
        arguments: [
            ("1970-01-01", 0, 0), ("2026-11-21", 1_795_219_200, 0),
            ("2026-11-21T09:30:00.123Z", 1_795_253_400, 123_000_000), ("2024-02-29 23:59:59Z", 1_709_251_199, 0),
            ("2000-03-01", 951_868_800, 0), ("1969-12-31T23:59:59Z", -1, 0), ("1904-02-29", -2_077_747_200, 0),
            ("2100-03-01T00:00+02:00", 4_107_535_200, 0), ("2162-12-31T00:00-0930", 6_090_456_600, 0),
            ("2026-11-21T09:30", 1_795_253_400, 0), ("2026-11-21T09:30:00.000000001", 1_795_253_400, 1),
        ] as [(String, Int64, Int64)])
    func reads(text: String, seconds: Int64, nanoseconds: Int64) {
        #expect(Instant(iso8601: text) == Instant(seconds: seconds, nanoseconds: nanoseconds))
    }

    @Test(arguments: [
        "", "2026", "2026-11", "2026-13-01", "2026-00-01", "2026-02-29", "2100-02-29", "2026-04-31", "2026-11-21T",
        "2026-11-21T09", "2026-11-21T24:00", "2026-11-21T09:60", "2026-11-21T09:30:60", "2026-11-21T09:30:00.",
        "2026-11-21T09:30:00.0000000001", "2026-11-21T09:30z", "2026-11-21T09:30+2", "2026-11-21T09:30+24:00",
        "2026-11-21Z", "2026-11-21T09:30Z ", " 2026-11-21", "26-11-21", "2026-11-2１", "yesterday", "-026-11-21",
    ])
    func refuses(text: String) { #expect(Instant(iso8601: text) == nil) }

    /// Printed text parses to the same moment.
    @Test func isTheInverse() {
        for seconds in stride(from: Int64(-5_000_000_000), to: 9_000_000_000, by: 86_399 * 37) {
            let moment = Instant(seconds: seconds, nanoseconds: 7_000_000)
            #expect(Instant(iso8601: moment.iso8601) == moment)
        }
    }
}
