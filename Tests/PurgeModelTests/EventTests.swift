import Foundation
import PurgeModel
import Testing

@Suite struct EventTests {
    private func json(_ event: Event) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(event), as: UTF8.self)
    }

    @Test func aFullEvent() throws {
        let event = Event(
            seq: 7, time: "2026-11-21T09:30:00.123Z", type: .purge, path: "Library/Caches/a", tier: .caches,
            bytes: ByteCount(8192), reason: PurgeReason.caches.rawValue, trigger: .importantWrite, pid: 42)
        #expect(
            try json(event) == """
                {"bytes":8192,"path":"Library/Caches/a","pid":42,"reason":"caches","seq":7,"tier":"caches",\
                "time":"2026-11-21T09:30:00.123Z","trigger":"importantWrite","type":"purge"}
                """)
    }

    @Test func fieldsThatDoNotApplyAreLeftOut() throws {
        let event = Event(seq: 1, time: "2026-11-21T09:30:00.000Z", type: .mount)
        #expect(try json(event) == #"{"seq":1,"time":"2026-11-21T09:30:00.000Z","type":"mount"}"#)
    }

    /// The fields that tell why a file is gone are read as they were written.
    @Test func fieldsOfAPurgeAndARename() throws {
        let purge = Event(
            seq: 7, time: "s", type: .purge, path: "tmp/a", pid: 42, cause: "Documents/b", process: "cp", lastUse: "u",
            pressure: .low, realTime: "r",
            passedOver: [
                PassedOver(path: "tmp/c", reason: .open, pid: 43, process: "cat"),
                PassedOver(path: "tmp/d", reason: .severalNames),
            ])
        #expect(
            try json(purge) == """
                {"cause":"Documents/b","lastUse":"u","passedOver":\
                [{"path":"tmp/c","pid":43,"process":"cat","reason":"open"},{"path":"tmp/d","reason":"severalNames"}],\
                "path":"tmp/a","pid":42,"pressure":"low","process":"cp","realTime":"r","seq":7,"time":"s",\
                "type":"purge"}
                """)
        #expect(try JSONDecoder().decode(Event.self, from: Data(try json(purge).utf8)) == purge)
        let renamed = Event(seq: 8, time: "s", type: .renamed, path: "tmp/a", to: "tmp/b")
        #expect(try json(renamed) == #"{"path":"tmp/a","seq":8,"time":"s","to":"tmp/b","type":"renamed"}"#)
    }

    @Test func someTypesAreTheAppsOwn() {
        #expect(EventType.allCases.filter(\.isOfApp) == [.removed, .renamed, .replaced])
    }

    @Test func readsBack() throws {
        let event = Event(
            seq: 9, time: "t", type: .refused, path: "Documents/a", tier: .persistent, bytes: ByteCount(1), pid: 1)
        #expect(try JSONDecoder().decode(Event.self, from: Data(try json(event).utf8)) == event)
    }

    @Test func typesAreThoseOfTheContract() {
        #expect(
            EventType.allCases.map(\.rawValue) == [
                "mount", "unmount", "purge", "refused", "pressure", "capacity", "mark", "flagLost", "protectionDenied",
                "device", "clock", "app", "lockHeld", "terminated", "policy", "backup", "restore", "hostFull", "fault",
                "dropped",
                "removed", "renamed", "replaced",
            ])
    }

    @Test func reasonsAreThoseOfTheContract() {
        let reasons: [PurgeReason] = [
            .others, .temporary, .caches, .purgeable, .policyAge, .policySize, .reboot, .command,
        ]
        #expect(
            reasons.map(\.rawValue) == [
                "others", "temporary", "caches", "purgeable", "policyAge", "policySize", "reboot", "command",
            ])
    }

    @Test func triggersAreThoseOfTheContract() {
        let triggers: [PurgeTrigger] = [.importantWrite, .pressure, .capacity, .policy, .reboot, .command]
        #expect(
            triggers.map(\.rawValue) == ["importantWrite", "pressure", "capacity", "policy", "reboot", "command"])
    }
}
