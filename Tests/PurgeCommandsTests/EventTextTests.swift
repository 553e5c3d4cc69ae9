import PurgeModel
import PurgeSystem
import Testing

@testable import PurgeCommands

struct EventTextTests {
    static let time = "2026-11-21T09:30:00.123Z"
    private let purge = Event(
        seq: 7, time: time, type: .purge, path: "Library/Caches/a\nb", tier: .caches, bytes: ByteCount(65536),
        reason: "caches", trigger: .importantWrite, pid: 42, cause: "Documents/new", process: "c\tp")

    @Test func lines() {
        #expect(
            EventText.line(purge)
                == "2026-11-21T09:30:00.123Z  purge       64.0 KiB  Library/Caches/a\\u{a}b  caches < importantWrite  "
                + "(written: Documents/new)  pid 42 (c\\u{9}p)")
        #expect(EventText.line(Event(time: "T", type: .unmount)) == "T  unmount")
        let renamed = Event(time: Self.time, type: .renamed, path: "tmp/a", pid: 0, to: "Documents/a", process: "mv")
        #expect(
            EventText.line(renamed) == "2026-11-21T09:30:00.123Z  renamed               tmp/a -> Documents/a  by mv")
        let replaced = Event(
            time: Self.time, type: .replaced, path: "a", bytes: ByteCount(4096), pid: 7, to: "a.new", process: "save")
        #expect(
            EventText.line(replaced)
                == "2026-11-21T09:30:00.123Z  replaced     4.0 KiB  a (by a.new)  pid 7 (save)")
        let level = Event(time: Self.time, type: .pressure, reason: "low", cause: "Documents/big")
        #expect(
            EventText.line(level) == "2026-11-21T09:30:00.123Z  pressure              low  (written: Documents/big)")
        let emptied = Event(time: Self.time, type: .purge, path: "a", bytes: .zero, reason: "caches", tombstone: true)
        #expect(EventText.line(emptied) == "2026-11-21T09:30:00.123Z  purge            0 B  a  (emptied)  caches")
    }

    /// On a terminal of 80 columns, the words and their order are the same.
    @Test func longLinesAreContinuedBelow() {
        let lines = EventText(event: purge).lines(width: 80)
        #expect(
            lines == [
                "2026-11-21T09:30:00.123Z  purge       64.0 KiB  Library/Caches/a\\u{a}b",
                "                          caches < importantWrite  (written: Documents/new)",
                "                          pid 42 (c\\u{9}p)",
            ])
        let long = Event(
            time: Self.time, type: .removed, path: String(repeating: "p", count: 100), pid: 1, process: "rm")
        #expect(
            EventText(event: long).lines(width: 80) == [
                "2026-11-21T09:30:00.123Z  removed               " + String(repeating: "p", count: 100),
                "                          pid 1 (rm)",
            ])
        #expect(EventText(event: purge).lines(width: 200).count == 1)
    }
}
