import PurgeModel
import PurgeStore
import PurgeSystem
import Testing

@testable import PurgeCommandLine
@testable import PurgeCommands
@testable import PurgeContainers

struct RenderingTests {
    @Test func bars() {
        #expect(Bar.ascii.text(0, of: 100, width: 10) == "..........")
        #expect(Bar.ascii.text(1, of: 1000, width: 10) == "#.........")
        #expect(Bar.ascii.text(50, of: 100, width: 10) == "#####.....")
        #expect(Bar.ascii.text(25, then: 25, of: 100, width: 8) == "##==....")
        #expect(Bar.ascii.text(200, then: 50, of: 100, width: 4) == "####")
        #expect(Bar.ascii.text(5, of: 0, width: 4) == "....")
        #expect(Bar.unicode.text(50, of: 100, width: 2) == "█░")
    }

    @Test func controlCharactersAreShown() {
        #expect(VisibleText.of("a b/é\u{301}\u{1F600}") == "a b/é\u{301}\u{1F600}")
        let text = VisibleText.of("a\nb\r\n\u{1B}[2J\u{7F}\u{9B}2J\u{2028}")
        #expect(text == #"a\u{a}b\u{d}\u{a}\u{1b}[2J\u{7f}\u{9b}2J\u{2028}"#)
        let marks: [UInt32] = [
            0x061C, 0x200E, 0x200F, 0x202A, 0x202E, 0x2066, 0x2069, 0xFEFF, 0xE0000, 0xE0041, 0xE007F,
        ]
        for mark in marks.compactMap(Unicode.Scalar.init) {
            #expect(VisibleText.of("a\(mark)b") == "a\\u{\(String(mark.value, radix: 16))}b")
        }
        // Joiners and variation selectors are part of names.
        #expect(VisibleText.of("\u{200C}\u{200D}\u{FE0F}") == "\u{200C}\u{200D}\u{FE0F}")
        let error = StoreError("it is\todd", path: "/a\nb", advice: "Rename /a\nb.")
        let message = CommandFailure("cannot check", error).message
        #expect(message == #"cannot check: /a\u{a}b: it is\u{9}odd"# + "\n" + #"  Rename /a\u{a}b."#)
    }

    /// Control characters in an event are escaped, because its strings may come from a file that another user has written.
    @Test func eventWithControlCharacters() {
        let line = EventText.line(Event(time: "T\u{1B}", type: .restore, reason: "1 entry of\u{1B}[31m\nx"))
        #expect(line.hasPrefix(#"T\u{1b}"#) && line.contains(#"1 entry of\u{1b}[31m\u{a}x"#))
    }

    @Test func refusals() {
        #expect(
            RefusalText.reason(.failed, users: [], leavesTombstone: false) == "it could not be removed from the store")
        #expect(RefusalText.reason(.failed, users: [], leavesTombstone: true) == "it could not be emptied in the store")
        #expect(RefusalText.reason(.open, users: [], leavesTombstone: true) == "it is open")
    }

    @Test func eventFilters() {
        let event = Event(type: .purge, path: "Library/Caches/deep/a.db")
        #expect(EventFilter().accepts(event))
        #expect(EventFilter(types: [.purge], glob: "*.db").accepts(event))
        #expect(EventFilter(glob: "Library/*").accepts(event))
        #expect(!EventFilter(glob: "tmp/*").accepts(event))
        #expect(!EventFilter(types: [.mount]).accepts(event))
        #expect(!EventFilter(glob: "*").accepts(Event(type: .purge)))
        #expect(EventFilter(glob: "b").accepts(Event(type: .renamed, path: "a", to: "b")))
        #expect(!EventFilter.usual.accepts(Event(type: .renamed, path: "a")) && EventFilter.usual.accepts(event))
        #expect(!EventFilter.usual.acceptsApp && EventFilter().acceptsApp && EventFilter(types: [.removed]).acceptsApp)
    }

    private func report(total: Int64 = 64 << 20, files: Int64 = 1) -> StatusReport {
        let capacity = Capacity(
            total: ByteCount(total), others: ByteCount(total / 8), othersPurgeable: ByteCount(total / 32),
            used: ByteCount(total / 4), thresholds: ThresholdSettings.documented.resolved(total: ByteCount(total)))
        let usage = StatusReport.Usage(bytes: ByteCount(total / 16), files: files)
        return StatusReport(
            profile: "documented", mountpoint: "/mnt", store: "/st\no\u{1B}re", capacity: capacity,
            tiers: StatusReport.Tiers { _ in usage },
            marked: StatusReport.Marked(purgeable: usage, excludedFromBackup: StatusReport.Usage()),
            pressure: .normal, purging: true, device: .init(state: "unlocked", clock: 0, boots: 1),
            app: .init(container: "ID", state: .foreground), counters: .init())
    }

    /// Everything fits on a terminal of 80 columns and 24 lines.
    @Test(arguments: [0, 4096, 64 << 20, 1023 << 30, (1 << 60) - 4096]) func statusFits(total: Int64) {
        let lines = StatusText(report: report(total: total, files: 1_000_000_000), bar: .unicode).lines
        #expect(lines.count <= 23)
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(lines)")
    }

    @Test func framesAreCutToTheTerminal() {
        let frame = LiveFrame(
            lines: ["abcdef", "ab", "abc", "a"].map { LiveLine($0) }, size: TerminalSize(columns: 3, rows: 3),
            isColoured: false)
        #expect(frame.text == "\u{1B}[?7l\u{1B}[Habc\r\nab\u{1B}[K\r\nabc\u{1B}[?7h")
        // The rest of the screen is erased, but not the last character of the last line.
        let short = LiveFrame(
            lines: ["ab", "abcdef"].map { LiveLine($0) }, size: TerminalSize(columns: 3, rows: 3), isColoured: false)
        #expect(short.text == "\u{1B}[?7l\u{1B}[Hab\u{1B}[K\r\nabc\r\n\u{1B}[J\u{1B}[?7h")
    }

    @Test func status() throws {
        let lines = StatusText(report: report(), bar: .ascii).lines
        #expect(lines.contains("mounted at        /mnt"))
        #expect(lines.contains(#"store             /st\u{a}o\u{1b}re"#))
        #expect(lines.contains("used                16.0 MiB  #######....................."))
        #expect(lines.contains("others               8.0 MiB  ###=........................  2.0 MiB purgeable"))
        #expect(lines.contains("free                40.0 MiB  ##################.........."))
        #expect(lines.contains("thresholds        very low 3.2 MiB, low 6.4 MiB,"))
        #expect(lines.contains("tmp                  4.0 MiB  1 file"))
        #expect(lines.contains("pressure          normal, purging"))
        #expect(lines.contains("refused           0 writes"))
    }
}
