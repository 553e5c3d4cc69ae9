import PurgeContainers
import PurgeModel
import PurgeSystem
import Testing

@testable import PurgeCommands

/// Frames of `status --watch` for a fixed report and fixed events.
struct WatchTextTests {
    private func report(pressure: PressureLevel = .normal, thresholds: ThresholdSettings = .documented) -> StatusReport
    {
        let total = ByteCount(64 << 20)
        let capacity = Capacity(
            total: total, others: ByteCount(16 << 20), othersPurgeable: ByteCount(4 << 20), used: ByteCount(24 << 20),
            thresholds: thresholds.resolved(total: total))
        func usage(_ mebibytes: Int64, _ files: Int64) -> StatusReport.Usage {
            .init(bytes: ByteCount(mebibytes << 20), files: files)
        }
        var report = StatusReport(
            profile: "documented", mountpoint: "/srv/app", store: "/srv/a\npp.store", capacity: capacity,
            tiers: .init { tier in
                switch tier {
                case .temporary: usage(4, 1)
                case .caches: usage(8, 2)
                case .persistent: usage(12, 3)
                }
            },
            marked: .init(purgeable: usage(2, 1), excludedFromBackup: usage(0, 0)), pressure: pressure, purging: true,
            device: .init(state: "unlocked", clock: 3 * 86400, boots: 2),
            app: .init(container: "ID", state: .foreground),
            counters: .init())
        (report.counters.purgedFiles, report.counters.purgedBytes, report.counters.refusedWrites) = (7, 5 << 20, 1)
        return report
    }
    private var events: [Event] {
        let times = (0..<8).map { "2026-11-21T09:30:0\($0).000Z" }
        return [
            Event(time: times[0], type: .mount), Event(time: times[1], type: .capacity, reason: "total=64M"),
            Event(time: times[2], type: .mark, path: "Documents/album", reason: "isPurgeable=1", pid: 9),
            Event(
                time: times[3], type: .purge, path: "Library/Caches/thumb\u{1B}s/1", bytes: ByteCount(65536),
                reason: "caches", trigger: .importantWrite, pid: 9, cause: "Documents/new"),
            Event(time: times[4], type: .refused, path: "Documents/" + String(repeating: "n", count: 70) + "/last"),
            Event(time: times[5], type: .pressure, reason: "low", cause: "Documents/big"),
            Event(time: times[6], type: .purge, bytes: ByteCount(4 << 20), reason: "others", trigger: .pressure),
            Event(
                time: times[7], type: .purge, path: "tmp/a", bytes: ByteCount(4096), reason: "temporary",
                trigger: .pressure),
        ]
    }
    private func groups(_ events: [Event]) -> EventGroups {
        var groups = EventGroups()
        for event in events { groups.add(event) }
        return groups
    }
    /// From an empty device to a full one.
    private let free = [64, 48, 24, 8, 0].map { ByteCount($0 << 20) }

    private func frame(_ columns: Int, _ rows: Int, isUnicode: Bool = false, remarks: [String] = []) -> [String] {
        WatchText(
            WatchedStatus(report: report(), events: groups(events), free: free, remarks: remarks),
            isUnicode: isUnicode, size: TerminalSize(columns: columns, rows: rows)
        ).lines.map(\.text)
    }
    private func check(_ lines: [String], _ expected: String) {
        #expect(lines.joined(separator: "\n") == expected, "\(lines.joined(separator: "\n"))")
    }

    @Test func ofEightyColumnsAndTwentyFourLines() {
        check(
            frame(80, 24),
            """
            mounted at  /srv/app
            store       /srv/a\\u{a}pp.store
            device      unlocked, boot 2, clock 3d ahead, foreground, profile documented

            24.0 MiB free of 64.0 MiB, pressure normal, purging
            oooooooooooooooppppp###############==========-----..............................
                                                                                   DL   V
            D desired 7.0 MiB  N near low 6.7 MiB  L low 6.4 MiB  V very low 3.2 MiB
            free lately   97310

            o others             12.0 MiB               important     28.0 MiB
            p others, purgeable   4.0 MiB               opportunistic 17.5 MiB
            # everything else    12.0 MiB  3 files      can be purged 4.0 MiB
            = Library/Caches      8.0 MiB  2 files      marked        2.0 MiB, 1 file
            - tmp                 4.0 MiB  1 file       purged        5.0 MiB, 7 files
            . free               24.0 MiB               refused       1 write

            last events                                        Ctrl-C quits, Ctrl-Z suspends
            09:30:03  purge       64.0 KiB  Library/Caches/thumb\\u{1b}s/1
            09:30:04  refused               ...nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn/last
            09:30:05  pressure              low  (written: Documents/big)
            09:30:06  purge        4.0 MiB  others < pressure
            09:30:07  purge        4.0 KiB  tmp/a  temporary < pressure
            """)
    }

    /// The bar and its legend use block characters instead of ASCII.
    @Test func withBlocks() {
        let (signs, blocks) = (Array("op#=-."), Array("▓▒█▞░·"))
        func inBlocks(_ text: Substring) -> String {
            String(text.map { sign in signs.firstIndex(of: sign).map { blocks[$0] } ?? sign })
        }
        let bar = 5
        let expected = frame(80, 24).enumerated().map { number, line in
            switch number {
            case bar: inBlocks(line[...])
            case 8: "free lately   █▇▄▂▁"
            case 10...15: inBlocks(line.prefix(1)) + line.dropFirst()
            default: line
            }
        }
        #expect(expected[bar].hasPrefix("▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒▒▒▒▒███████████████▞▞▞▞▞▞▞▞▞▞░░░░░··"))
        #expect(frame(80, 24, isUnicode: true) == expected)
    }

    @Test func ofSixtyColumnsAndTwentyLines() {
        check(
            frame(60, 20),
            """
            mounted at  /srv/app
            store       /srv/a\\u{a}pp.store
            device      unlocked, boot 2, +3d, foreground, documented
            24.0 MiB free of 64.0 MiB, pressure normal, purging
            ooooooooooopppp###########========----......................
                                                                 DL  V
            D 7.0 MiB  N 6.7 MiB  L 6.4 MiB  V 3.2 MiB
            free lately   97310
            o others             12.0 MiB important     28.0 MiB
            p others, purgeable   4.0 MiB opportunistic 17.5 MiB
            # everything else    12.0 MiB can be purged 4.0 MiB
            = Library/Caches      8.0 MiB marked        2.0 MiB (1)
            - tmp                 4.0 MiB purged        5.0 MiB (7)
            . free               24.0 MiB refused       1 write
            last events                    Ctrl-C quits, Ctrl-Z suspends
            09:30:04  refused               ...nnnnnnnnnnnnnnnnnnnn/last
            09:30:05  pressure              low
            09:30:06  purge        4.0 MiB  others < pressure
            09:30:07  purge        4.0 KiB  tmp/a  temporary < pressure
            """)
    }

    @Test func ofFortyColumnsAndTenLines() {
        check(
            frame(40, 10),
            """
            24.0 MiB free, normal, purging
            ooooooooppp#######=====--...............
                                                L V
            o others             12.0 MiB
            p others, purgeable   4.0 MiB
            # everything else    12.0 MiB  3 files
            = Library/Caches      8.0 MiB  2 files
            - tmp                 4.0 MiB  1 file
            09:30:07  purge  tmp/a
            """)
    }

    @Test func ofTwentyColumnsAndFiveLines() {
        check(
            frame(20, 5),
            """
            24.0 MiB, normal
            oooop####===-.......
                              LV
            purge  tmp/a
            """)
    }

    /// A frame fits a terminal of any size, with content of any length.
    @Test(arguments: [1, 2, 3, 10, 20, 35, 60, 76, 80, 132, 300], [1, 2, 3, 5, 10, 16, 17, 24, 25, 60])
    func fitsEveryTerminal(columns: Int, rows: Int) {
        let lines = frame(columns, rows, remarks: ["something that is missing, for a long reason " + "/\u{1B}"])
        #expect(lines.count <= max(1, rows > 2 ? rows - 1 : rows))
        #expect(lines.allSatisfy { $0.count <= columns })
        #expect(!lines.joined().contains("\u{1B}"))
    }

    @Test func whatIsMissingIsSaid() {
        #expect(
            frame(80, 24, remarks: ["cannot read the journal: it is damaged"]).contains {
                $0 == "cannot read the journal: it is damaged"
            })
        let none = WatchText(
            WatchedStatus(report: report()), isUnicode: false, size: TerminalSize(columns: 80, rows: 24))
        #expect(none.lines.last?.text.hasPrefix("no events yet") == true)
    }

    /// The bar has its width even if the device is overcommitted, empty, or of no size.
    @Test func bars() {
        func bar(others: Int64, used: Int64, total: Int64 = 100 << 12) -> CapacityBar {
            var report = report(thresholds: .off)
            report.storage.total = ByteCount(total)
            report.storage.others = ByteCount(others << 12)
            report.storage.othersPurgeable = .zero
            report.tiers = .init { .init(bytes: $0 == .caches ? ByteCount(used << 12) : .zero) }
            report.storage.available = ByteCount(max(0, total - (others + used) << 12))
            return CapacityBar(report: report, isUnicode: false)
        }
        #expect(bar(others: 0, used: 0).text(width: 10) == "..........")
        #expect(bar(others: 50, used: 1).text(width: 10) == "ooooo=....")
        #expect(bar(others: 99, used: 1).text(width: 10) == "ooooooooo=")
        #expect(bar(others: 150, used: 50).text(width: 8) == "oooooo==")
        #expect(bar(others: 50, used: 50, total: 0).text(width: 4) == "oo==")
        #expect(bar(others: 1, used: 1).text(width: 1).count == 1)
        #expect(bar(others: 0, used: 0).text(width: 0) == "" && bar(others: 0, used: 0).marks(width: 10) == "")
        #expect(bar(others: 0, used: 0).legend(width: 80) == "no thresholds")
    }

    /// Purges for the same reason are one line, with their number and sum.
    @Test func manyPurges() {
        let purges = (0..<12).map { index in
            Event(
                time: "2026-11-21T09:30:00.000Z", type: .purge, path: "Library/Caches/p/\(index)",
                bytes: ByteCount(1 << 20), reason: "caches", trigger: .pressure)
        }
        let lines = WatchText(
            WatchedStatus(report: report(), events: groups(purges)), isUnicode: false,
            size: TerminalSize(columns: 80, rows: 24)
        ).lines.map(\.text)
        #expect(lines.last == "09:30:00  purge       12.0 MiB  12 times in Library/Caches/p  caches < pressure")
    }

    /// Colours add nothing but escape sequences to the text, also at its end and in a line that was cut.
    @Test func colours() {
        var line = LiveLine("0123456789")
        line.colours = [(2..<4, .red), (4..<4, .blue), (8..<20, .green)]
        func shown(_ line: LiveLine, _ columns: Int, _ isColoured: Bool) -> String {
            let text = LiveFrame(
                lines: [line], size: TerminalSize(columns: columns, rows: 1), isColoured: isColoured
            ).text
            return String(text.dropFirst("\u{1B}[?7l\u{1B}[H".count).dropLast("\u{1B}[?7h".count))
        }
        #expect(shown(line, 10, true) == "01\u{1B}[31m23\u{1B}[39m4567\u{1B}[32m89\u{1B}[39m")
        #expect(shown(line, 3, true) == "01\u{1B}[31m2\u{1B}[39m")
        #expect(shown(line, 2, true) == "01")
        #expect(shown(line, 11, false) == "0123456789\u{1B}[K")
    }
}
