import PurgeContainers
import PurgeModel
import Testing

/// Similar events are one group.
struct EventGroupsTests {
    private static let second: Int64 = 1_000_000_000

    private static func purge(_ path: String, pid: Int32 = 1) -> Event {
        Event(type: .purge, path: path, bytes: ByteCount(10), reason: "caches", trigger: .pressure, pid: pid)
    }

    /// Returns the event with a time in nanoseconds since 1970; nil for a time that cannot be parsed.
    private static func at(_ time: Int64?, _ event: Event) -> Event {
        var event = event
        event.time = time.map { Instant(nanoseconds: $0).iso8601 } ?? "?"
        return event
    }

    /// Purges that alternate with pressure events form one group, and the pressure events form another.
    @Test func alternation() {
        var events = EventGroups()
        for index in 0..<30 {
            let time = Int64(index) * Self.second
            events.add(Self.at(time, Event(type: .pressure, reason: "low")))
            events.add(Self.at(time, Self.purge("Library/Caches/\(index)")))
            events.add(Self.at(time, Event(type: .pressure, reason: "normal")))
        }
        #expect(events.groups.map(\.count) == [60, 30])
        #expect(events.groups[0].last.reason == "normal")
        let purges = events.groups[1]
        #expect(purges.bytes == ByteCount(300) && purges.directory == "Library/Caches")
        #expect(purges.paths == (0..<8).map { "Library/Caches/\($0)" } && purges.unlisted == 22)
    }

    @Test func differentPurgesStayApart() {
        var events = EventGroups()
        events.add(Self.at(0, Self.purge("a/1")))
        events.add(Self.at(0, Self.purge("b/2")))
        events.add(Self.at(0, Self.purge("b/3", pid: 2)))
        events.add(Self.at(61 * Self.second, Self.purge("b/4", pid: 2)))
        #expect(events.groups.map(\.count) == [2, 1, 1])
        #expect(events.groups.map(\.directory) == [nil, "b", "b"])
    }

    /// The order of changes of the device is told exactly.
    @Test func stateChanges() {
        var events = EventGroups()
        for state in ["locked", "unlocked", "locked"] { events.add(Self.at(0, Event(type: .device, reason: state))) }
        for _ in 0..<3 { events.add(Self.at(0, Event(type: .clock, reason: "+1d"))) }
        #expect(events.groups.map(\.count) == [1, 1, 1, 3])
    }

    /// A clock that was set back, or a time that cannot be read, begins a new group.
    @Test func timesThatDoNotFollow() {
        var events = EventGroups()
        for time in [Int64.max, 0, nil, nil, .min, .max] { events.add(Self.at(time, Self.purge("a"))) }
        // The last event joins the first one of its time.
        #expect(events.groups.map(\.count) == [2, 1, 1, 1, 1])
    }

    /// The path of all events is kept, or the first paths if they differ.
    @Test func equalPaths() {
        var events = EventGroups()
        for index in 0..<9 { events.add(Self.at(0, Event(type: .removed, path: index < 8 ? "a/b" : "a/c", pid: 1))) }
        #expect(events.groups.map(\.count) == [9] && events.groups[0].path == nil)
        #expect(events.groups[0].paths == ["a/b", "a/c"] && events.groups[0].directory == "a")
        #expect(events.groups[0].unlisted == 0)
        events = EventGroups()
        events.add(Self.at(0, Event(type: .mount)))
        for _ in 0..<3 { events.add(Self.at(0, Event(type: .refused, path: "a", pid: 1))) }
        #expect(events.groups[1].path == "a" && events.groups[1].count == 3)
    }

    /// Swift finds the two names equal.
    @Test func namesThatDifferInTheirBytes() {
        let names = ["caf\u{E9}", "cafe\u{301}"]
        func groups(_ event: (String) -> Event) -> [EventGroup] {
            var events = EventGroups()
            for name in names { events.add(Self.at(0, event(name))) }
            return events.groups
        }
        let renamed = groups { Event(type: .renamed, path: "\($0)/f", pid: 1) }
        #expect(renamed.count == 1 && renamed[0].path == nil && renamed[0].paths.count == 2)
        #expect(renamed[0].directory == nil)
        let refused = groups { Event(type: .refused, path: $0, pid: 1) }
        #expect(refused.count == 1 && refused[0].path == nil && refused[0].paths.count == 2)
        #expect(groups { Event(type: .pressure, reason: "low", cause: $0) }.count == 1)
        #expect(groups { Event(type: .purge, path: "a", reason: "caches", cause: $0) }.count == 2)
    }

    /// Refusals of several files by one process and for one reason are one group. Counts of further refusals are a group of
    /// their own.
    @Test func refusals() {
        var events = EventGroups()
        for path in ["a/1", "a/2", nil, nil, "a/3"] as [String?] {
            events.add(
                Self.at(0, Event(type: .refused, path: path, reason: path == nil ? "7 more, of other files" : nil)))
        }
        events.add(Self.at(0, Event(type: .refused, path: "tmp/1", reason: "opportunistic")))
        #expect(events.groups.map(\.count) == [3, 2, 1])
        #expect(events.groups[0].directory == "a" && events.groups[1].paths == [])
    }

    @Test func manyEvents() {
        var events = EventGroups()
        // Marks keep their order.
        for index in 0..<1000 { events.add(Self.at(0, Event(type: .mark, path: "a", reason: "\(index)"))) }
        #expect(events.groups.count == 100 && events.earlier == 900)
        #expect(events.groups.last?.first.reason == "999")
    }
}
