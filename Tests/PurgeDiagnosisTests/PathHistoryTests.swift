import PurgeModel
import Testing

@testable import PurgeDiagnosis

struct PathHistoryTests {
    @Test func momentsAreReadBack() {
        for nanoseconds in [0, 1_000_000, 951_782_400_000_000_000, 4_102_444_799_999_000_000, -1_000_000] {
            let instant = Instant(nanoseconds: Int64(nanoseconds))
            #expect(Instant(iso8601: instant.iso8601) == instant, "\(instant.iso8601)")
        }
        #expect(Instant(iso8601: "1970-01-02T00:00:01Z")?.nanoseconds == 86_401_000_000_000)
        #expect(Instant(iso8601: "1970-01-01T00:00:00.000000001Z")?.nanoseconds == 1)
        #expect(Instant(iso8601: "2026-11-23T04:20:11.5Z")?.iso8601 == "2026-11-23T04:20:11.500Z")
    }

    @Test(arguments: [
        "", "Z", "1970-13-01T00:00:00Z", "1970-00-01T00:00:00Z",
        "1970-01-01T24:00:00Z", "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00,5Z", "197o-01-01T00:00:00Z",
        "1970-01-01T00:00:0\u{e9}Z", "-970-01-01T00:00:00Z", "1970-01-01T00:00:00.5é5Z",
    ])
    func noMoments(_ text: String) { #expect(Instant(iso8601: text) == nil) }

    @Test func events() {
        var history = PathHistory()
        for (index, event) in [
            Event(type: .purge, tombstone: true), Event(type: .refused), Event(type: .protectionDenied),
            Event(type: .flagLost, reason: "isPurgeable=low"), Event(type: .flagLost, reason: "nonsense"),
            Event(type: .mark, reason: "isPurgeable=low"), Event(type: .lockHeld, reason: "a"),
            Event(type: .lockHeld, reason: "b"), Event(type: .purge),
        ].enumerated() {
            var event = event
            event.time = Instant(seconds: Int64(index), nanoseconds: 0).iso8601
            history.note(event)
        }
        #expect(history.purges == 2 && history.refusals == 1 && history.denials == 1)
        #expect(history.lastPurge?.nanoseconds == 8_000_000_000 && history.lastRefusal?.nanoseconds == 1_000_000_000)
        #expect(history.locks == 2 && history.lastLock == "b")
        #expect(!history.wasEmptied && history.lostMark == .purgeable(.low) && !history.lostExclusion)
    }
}
