import Foundation
import Testing

@testable import ContainerTesting

@Suite struct EventLogTests {
    private static func line(_ seq: Int, _ type: String, _ reason: String = "") -> String {
        #"{"seq":\#(seq),"time":"2026-11-23T10:53:36Z","type":"\#(type)","path":"dropped","reason":"\#(reason)"}"#
    }

    /// Returns the events that a log with the lines `told` yields if the journal has the lines `journal`.
    private func events(_ told: [String], journal: [String]) throws -> [Container.Event] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("event-log-\(UUID())")
        try Data(told.map { $0 + "\n" }.joined().utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try EventLog(path: file.path) { journal.map { Data($0.utf8) } }.events()
    }

    private let told = [line(3, "purge"), line(8, "dropped", "3 events"), line(9, "purge")]

    @Test func eventsThatTheJournalHas() throws {
        let journal = [2, 3, 4, 6, 8, 9].map { Self.line($0, "purge") } + [Self.line(7, "dropped", "?")]
        let events = try events(told, journal: journal)
        #expect(events.map(\.seq) == [3, 4, 6, 8, 9] && Set(events.map(\.type)) == [.purge])
    }

    @Test func eventsThatItHasNot() throws {
        let events = try events(told, journal: [3, 4, 9].map { Self.line($0, "purge") })
        #expect(events.map(\.seq) == [3, 4, 8, 9])
        #expect(events[2].type == .dropped && events[2].reason == "2 events" && events[2].missed == 2)
        #expect(try self.events(told, journal: []).map(\.missed) == [0, 3, 0])
    }

    /// Events of earlier mounts, which the journal of a reused store has, are left out.
    @Test func noEventBefore() throws {
        let events = try events([told[1]], journal: (1...8).map { Self.line($0, "purge") })
        #expect(events.map(\.seq) == [6, 7, 8])
    }
}
