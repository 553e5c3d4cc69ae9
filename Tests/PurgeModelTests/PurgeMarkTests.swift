import PurgeModel
import Testing

@Suite struct PurgeMarkTests {
    @Test(
        arguments: [
            ("0", .notPurgeable, "0"), ("1", .purgeable(.low), "low"), ("low", .purgeable(.low), "low"),
            ("medium", .purgeable(.medium), "medium"), ("high", .purgeable(.high), "high"),
        ] as [(String, PurgeMark, String)])
    func readsAndReadsBack(text: String, mark: PurgeMark, back: String) {
        #expect(PurgeMark(text: text) == mark)
        #expect(mark.text == back)
    }

    @Test(arguments: ["", "2", "00", "LOW", "Low", " low", "low\n", "true", "-1", "off"])
    func refusesTheRest(text: String) {
        #expect(PurgeMark(text: text) == nil)
    }

    @Test func onlyAPurgeableMarkHasAnUrgency() {
        #expect(PurgeMark.notPurgeable.urgency == nil)
        #expect(PurgeMark.purgeable(.medium).urgency == .medium)
    }

    @Test func urgenciesRise() {
        #expect([Urgency.high, .low, .medium].sorted() == [.low, .medium, .high])
    }
}
