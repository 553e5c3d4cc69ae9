import Foundation
import PurgeModel
import Testing

@testable import ContainerTesting

@Suite struct EventTests {
    /// An artificial event with every field.
    private static let line = """
        {"seq":7,"time":"2026-11-23T10:53:36.917Z","type":"purge","path":"tmp/a","tier":"temporary","bytes":4096,\
        "reason":"temporary","code":"0xbaddd15c","trigger":"command","pid":8150,"cause":"Documents/b",\
        "tombstone":true,"to":"c","process":"sh","lastUse":"2026-11-20T00:00:00Z","pressure":"veryLow",\
        "realTime":"2026-11-23T10:53:36.000Z","passedOver":[\
        {"path":"tmp/open","reason":"open","pid":1,"process":"init"}]}
        """

    @Test func allFields() throws {
        let event = try Lines.decode(Container.Event.self, from: Data(Self.line.utf8))
        #expect(Mirror(reflecting: event).children.allSatisfy { !"\($0.value)".hasPrefix("nil") })
        #expect(event.time == Date(timeIntervalSince1970: 1_795_431_216.917))
        #expect(event.lastUse == Date(timeIntervalSince1970: 1_795_132_800))
        #expect(event.type == .purge && event.trigger == .command && event.pressure == .veryLow)
        #expect(event.passedOver?.first?.path == "tmp/open")
        #expect(
            event.line == "7 purge, tmp/a, 4096 bytes, reason temporary, trigger command, caused by Documents/b, "
                + "pressure veryLow, process sh")
    }

    /// An event is decoded even if its type is unknown to this library, because a newer binary may send such types.
    @Test func unknownType() throws {
        let line = #"{"seq":1,"time":"2026-11-23T10:53:36Z","type":"snapshot","pressure":"low","more":[1]}"#
        #expect(try Lines.decode(Container.Event.self, from: Data(line.utf8)).type.rawValue == "snapshot")
    }

    @Test func nonsense() {
        let error = #expect(throws: ContainerError.self) {
            try Lines.decode(Container.Event.self, from: Data("{}".utf8))
        }
        #expect(error?.description.contains("does not understand this output of purgefs: {} (") == true)
    }

    /// The constants use purgefs's own words.
    @Test func words() {
        let types: [Container.EventType] = [
            .mount, .unmount, .purge, .refused, .pressure, .capacity, .mark, .flagLost, .protectionDenied, .device,
            .clock, .app, .lockHeld, .terminated, .policy, .backup, .restore, .hostFull, .fault, .dropped, .removed,
            .renamed,
            .replaced,
        ]
        #expect(types.map(\.rawValue) == PurgeModel.EventType.allCases.map(\.rawValue))
        let triggers: [Container.Trigger] = [.importantWrite, .pressure, .capacity, .policy, .reboot, .command]
        for trigger in triggers { #expect(PurgeTrigger(rawValue: trigger.rawValue) != nil) }
        for profile in [Container.Profile.documented, .device] { #expect(Profile(rawValue: profile.rawValue) != nil) }
        #expect(Container.DeviceState.beforeFirstUnlock.rawValue == "beforeFirstUnlock")
    }

    @Test func fileNames() {
        #expect(ContainerEvidence.fileName("photos/vanish(in:)") == "photos-vanish-in")
        #expect(ContainerEvidence.fileName("AppTests.testA") == "AppTests.testA")
        #expect(ContainerEvidence.fileName(String(repeating: "a", count: 300)).count == 150)
    }
}
