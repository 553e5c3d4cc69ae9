import PurgeModel
import PurgeStore
import Testing

@testable import PurgeCommands

struct EventSummaryTests {
    private func purge(_ path: String?, _ bytes: Int64, _ reason: String, _ trigger: PurgeTrigger, _ by: String?)
        -> Event
    {
        Event(
            time: "2026-11-21T09:30:00.000Z", type: .purge, path: path, bytes: ByteCount(bytes), reason: reason,
            trigger: trigger, pid: by == nil ? nil : 9, process: by)
    }
    private var events: [Event] {
        [
            Event(time: "2026-11-21T09:00:00.000Z", type: .mount, pid: 1, process: "purgefs"),
            purge("Library/Caches/thumbs/a/b/one", 65536, "caches", .importantWrite, "cp"),
            purge("Library/Caches/thumbs/a/two", 4096, "caches", .importantWrite, "cp"),
            purge(nil, 8192, "others", .importantWrite, "cp"), purge("tmp/x", 4096, "temporary", .pressure, nil),
            Event(
                time: "T", type: .refused, path: "Documents/big", bytes: ByteCount(1 << 30), pid: 5, process: "c\np"),
            Event(time: "T", type: .refused, path: "Documents/big", bytes: ByteCount(1 << 30), pid: 8),
            Event(time: "2026-11-21T09:40:00.000Z", type: .mark, path: "top", reason: "isPurgeable=1"),
        ]
    }
    private var report: EventSummaryReport {
        var summary = EventSummary()
        for event in events { summary.add(event) }
        return summary.report
    }

    @Test func text() {
        let lines = EventSummaryText(report: report).lines
        #expect(
            lines.joined(separator: "\n") == """
                8 events, 2026-11-21T09:00:00.000Z to 2026-11-21T09:40:00.000Z
                purged 3 files, 80.0 KiB; refused 2 writes

                by directory                               events    files      purged   refused
                  Library/Caches/thumbs                         2        2    68.0 KiB
                  tmp                                           1        1     4.0 KiB
                  Documents                                     2        1         0 B         2
                  (the container itself)                        1        1         0 B

                by reason                                  events    files      purged   refused
                  purge: caches < importantWrite                2        2    68.0 KiB
                  purge: others < importantWrite                1        0     8.0 KiB
                  purge: temporary < pressure                   1        1     4.0 KiB
                  refused                                       2        1         0 B         2
                  mark                                          1        1         0 B
                  mount                                         1        0         0 B

                by process                                 events    files      purged   refused
                  cp                                            3        2    76.0 KiB
                  (no process)                                  2        2     4.0 KiB
                  c\\u{a}p                                       1        1         0 B         1
                  pid 8                                         1        1         0 B         1
                  purgefs                                       1        0         0 B
                """)
    }

    @Test func json() {
        let text = JSONText.encode(report)
        #expect(
            text.hasPrefix(
                #"{"first":"2026-11-21T09:00:00.000Z","last":"2026-11-21T09:40:00.000Z","total":{"events":8,"#
                    + #""files":5,"purgedFiles":3,"purgedBytes":81920,"refusedWrites":2},"directories":["#
                    + #"{"directory":"Library/Caches/thumbs","events":2,"files":2,"purgedFiles":2,"#
                    + #""purgedBytes":69632,"refusedWrites":0},"#), "\(text)")
        #expect(
            text.contains(
                #"{"type":"purge","reason":"caches","trigger":"importantWrite","events":2,"files":2,"purgedFiles":2,"#))
        #expect(text.contains(#"{"events":2,"files":2,"purgedFiles":1,"purgedBytes":4096,"refusedWrites":0},"#))
        #expect(!text.contains("\n"))
    }

    /// The summary gives the earliest and the latest time, even if the clock was set back. Invalid times are ignored.
    @Test func aClockThatWasSetBack() {
        var summary = EventSummary()
        for time in ["2026-11-21T09:00:00.000Z", "2026-11-22T09:00:00.000Z", "x", "2026-11-20T09:00:00.000Z"] {
            summary.add(Event(time: time, type: .mark, path: "a"))
        }
        #expect(
            EventSummaryText(report: summary.report).lines.first
                == "4 events, 2026-11-20T09:00:00.000Z to 2026-11-22T09:00:00.000Z")
        var damaged = EventSummary()
        damaged.add(Event(time: "\u{1B}", type: .mark))
        #expect(EventSummaryText(report: damaged.report).lines.first == "1 event")
    }

    /// Two files are counted separately although they and their directories have canonically equivalent names.
    @Test func pathsThatAreEqualAsText() {
        var summary = EventSummary()
        for name in ["caf\u{E9}", "cafe\u{301}", "caf\u{E9}"] {
            summary.add(Event(time: "T", type: .mark, path: "\(name)/\u{301}/a"))
        }
        #expect(summary.report.total.files == 2)
        #expect(summary.report.directories.map(\.events).sorted() == [1, 2])
        #expect(summary.report.directories.allSatisfy { $0.directory?.utf8.last == 0x81 })
    }

    @Test func nothing() {
        #expect(EventSummaryText(report: EventSummary().report).lines == ["no events"])
        #expect(JSONText.encode(EventSummary().report).hasPrefix(#"{"total":{"events":0,"#))
    }

    /// The text cuts long tables and long names; the report keeps all directories.
    @Test func longTablesAreCut() {
        var summary = EventSummary()
        for number in 0..<25 {
            let name = String(repeating: "n", count: 60) + "\(number)"
            summary.add(Event(time: "T", type: .removed, path: "Documents/\(name)/f"))
        }
        let lines = EventSummaryText(report: summary.report).lines
        #expect(lines.contains("  and 15 more (--json has them all)"))
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(lines.contains { $0.hasPrefix("  ...nnnn") })
        #expect(summary.report.directories.count == 25)
    }
}
