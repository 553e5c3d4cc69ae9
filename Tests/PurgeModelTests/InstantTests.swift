import PurgeModel
import Testing

@Suite struct InstantTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_827_696, "2000-02-29T12:34:56.000Z"),  // 2000 is a leap year, 1900 and 2100 are not
            (951_868_800, "2000-03-01T00:00:00.000Z"),
            (946_684_799, "1999-12-31T23:59:59.000Z"),
            (1_000_000_000, "2001-09-09T01:46:40.000Z"),
            (1_677_628_799, "2023-02-28T23:59:59.000Z"),
            (1_677_628_800, "2023-03-01T00:00:00.000Z"),
            (1_709_164_800, "2024-02-29T00:00:00.000Z"),
            (1_795_253_400, "2026-11-21T09:30:00.000Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func printsKnownDates(seconds: Int64, text: String) {
        #expect(Instant(seconds: seconds, nanoseconds: 0).iso8601 == text)
    }

    @Test(
        arguments: [
            (-1, "1969-12-31T23:59:59.000Z"),
            (-2_077_747_200, "1904-02-29T00:00:00.000Z"),
            (-2_203_891_200, "1900-03-01T00:00:00.000Z"),
            (-2_203_891_201, "1900-02-28T23:59:59.000Z"),
        ] as [(Int64, String)])
    func printsDatesBefore1970(seconds: Int64, text: String) {
        #expect(Instant(seconds: seconds, nanoseconds: 0).iso8601 == text)
    }

    @Test(
        arguments: [
            (1, "1970-01-01T00:00:00.000Z"), (999_999, "1970-01-01T00:00:00.000Z"),
            (1_000_000, "1970-01-01T00:00:00.001Z"), (123_456_789, "1970-01-01T00:00:00.123Z"),
            (999_999_999, "1970-01-01T00:00:00.999Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (-1_000_000, "1969-12-31T23:59:59.999Z"), (-1_000_001, "1969-12-31T23:59:59.998Z"),
        ] as [(Int64, String)])
    func cutsOffBelowMilliseconds(nanoseconds: Int64, text: String) {
        #expect(Instant(nanoseconds: nanoseconds).iso8601 == text)
    }

    @Test func printsTheExtremes() {
        #expect(Instant.distantPast.iso8601 == "1677-09-21T00:12:43.145Z")
        #expect(Instant(nanoseconds: .max).iso8601 == "2262-04-11T23:47:16.854Z")
    }

    @Test(
        arguments: [
            (3, 5, 3_000_000_005), (-1, 250_000_000, -750_000_000),
            (9_223_372_036, 854_775_807, Int64.max),
            (9_223_372_036, 854_775_808, Int64.max),
            (32_503_680_000, 0, Int64.max),  // the year 3000
            (-32_503_680_000, 0, Int64.min),
            (.max, 0, Int64.max), (.min, 999_999_999, Int64.min),
        ] as [(Int64, Int64, Int64)])
    func takesTheNearestMomentThatFits(seconds: Int64, rest: Int64, nanoseconds: Int64) {
        #expect(Instant(seconds: seconds, nanoseconds: rest).nanoseconds == nanoseconds)
    }

    @Test func ordersByTime() {
        #expect(Instant.distantPast < Instant(nanoseconds: -1))
        #expect(Instant(nanoseconds: -1) < Instant(nanoseconds: 0))
    }
}
