import PurgeModel
import Testing

@testable import PurgeStore

struct JSONTextTests {
    @Test func writesAnEventInTheOrderOfTheContract() {
        #expect(
            JSONText.encode(JournalTests.purge)
                == #"{"seq":1,"time":"2026-11-21T09:30:00.123Z","type":"purge","path":"tmp/a","tier":"temporary","#
                + #""bytes":8192,"reason":"temporary","trigger":"importantWrite","pid":4242}"#)
    }

    @Test func leavesOutWhatDoesNotApply() {
        let event = Event(seq: 7, time: "2026-01-01T00:00:00.000Z", type: .unmount)
        #expect(JSONText.encode(event) == #"{"seq":7,"time":"2026-01-01T00:00:00.000Z","type":"unmount"}"#)
    }

    @Test func escapesWhatJSONAsksFor() throws {
        let event = Event(seq: 1, time: "t", type: .mark, path: "a/\"b\"\\\n\u{1}\u{1F}é\u{FFFD}🙂")
        let text = JSONText.encode(event)
        #expect(text == #"{"seq":1,"time":"t","type":"mark","path":"a/\"b\"\\\n\u0001\u001fé"# + "\u{FFFD}🙂\"}")
        #expect(try JSONText.decode(Event.self, from: text) == event)
    }

    /// Control characters can drive a terminal, and some programs take U+2028 and U+2029 for line ends.
    @Test func escapesOtherControls() throws {
        let event = Event(
            seq: 1, time: "t", type: .mark, path: "~\u{7F}\u{80}\u{9B}\u{9F}\u{A0}\u{2027}\u{2028}\u{2029}")
        let text = JSONText.encode(event)
        #expect(text.hasSuffix("~\\u007f\\u0080\\u009b\\u009f\u{A0}\u{2027}\\u2028\\u2029\"}"))
        #expect(try JSONText.decode(Event.self, from: text) == event)
    }

    private struct Nothing: Encodable { func encode(to encoder: any Encoder) {} }
    @Test func writesNullForAValueThatEncodesNothing() {
        #expect(JSONText.encode(Nothing()) == "null")
        #expect(JSONText.encode(["x": Nothing()]) == #"{"x":null}"#)
        #expect(JSONText.encode([Nothing(), Nothing()]) == "[null,null]")
    }

    static let report = StatusReport(
        profile: "documented", mountpoint: nil, store: "/s",
        capacity: Capacity(
            total: ByteCount(40960), others: ByteCount(8192), othersPurgeable: .zero, used: ByteCount(4096),
            reclaimableFiles: .zero, thresholds: .off),
        tiers: StatusReport.Tiers { $0 == .caches ? StatusReport.Usage(bytes: ByteCount(4096), files: 1) : .init() },
        marked: .init(purgeable: .init(), excludedFromBackup: .init()), pressure: .normal, purging: false,
        device: .init(state: "unlocked", clock: 0, boots: 1), app: .init(container: "U", state: .foreground),
        counters: .init())

    @Test func writesAReportOnOneLine() {
        #expect(
            JSONText.encode(Self.report, pretty: false)
                == #"{"version":1,"profile":"documented","store":"/s","storage":{"total":40960,"others":8192,"#
                + #""othersPurgeable":0,"used":4096,"available":28672,"important":28672,"opportunistic":28672,"#
                + #""reclaimable":0},"tiers":{"temporary":{"bytes":0,"files":0},"caches":{"bytes":4096,"files":1},"#
                + #""persistent":{"bytes":0,"files":0}},"marked":{"purgeable":{"bytes":0,"files":0},"#
                + #""excludedFromBackup":{"bytes":0,"files":0}},"pressure":"normal","purging":false,"#
                + #""thresholds":{"veryLow":0,"low":0,"nearLow":0,"desired":0},"device":{"state":"unlocked","#
                + #""clock":0,"boots":1},"app":{"container":"U","running":true,"state":"foreground"},"counters":{"purgedFiles":0,"#
                + #""purgedBytes":0,"refusedWrites":0,"protectionDenied":0}}"#)
    }

    @Test func indentsForPeople() {
        let text = JSONText.encode(Self.report, pretty: true)
        #expect(text.hasPrefix("{\n  \"version\": 1,\n  \"profile\": \"documented\",\n"))
        #expect(text.contains("\n    \"caches\": {\n      \"bytes\": 4096,\n      \"files\": 1\n    },\n"))
        #expect(text.hasSuffix("\n    \"protectionDenied\": 0\n  }\n}"))
    }

    @Test func readsAReportBack() throws {
        let report = try JSONText.decode(StatusReport.self, from: JSONText.encode(Self.report, pretty: true))
        #expect(report.storage.available == ByteCount(28672))
        #expect(report.mountpoint == nil)
        #expect(report.tiers.caches.files == 1)
    }
}
