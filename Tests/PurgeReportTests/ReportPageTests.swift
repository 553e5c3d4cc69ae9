import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeReport

/// Pages with fixed content. The complete page must equal Report/page.html. To accept a change: `PURGEFS_ACCEPT_MESSAGES=1
/// swift test --filter ReportPageTests`.
struct ReportPageTests {
    private static let folder = "\(#filePath)".split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/Report"
    private static let mib: Int64 = 1 << 20

    /// Saturday, 21 November 2026, 09:00 UTC.
    private static let begin: Int64 = 1_795_251_600_000_000_000

    private static func time(_ seconds: Int64) -> String {
        Instant(nanoseconds: begin + seconds * 1_000_000_000).iso8601
    }

    static func status() throws -> StatusReport {
        try JSONText.decode(
            StatusReport.self,
            from: """
                {"version":1,"profile":"documented","mountpoint":"/mnt/app","store":"/srv/a&b.store",
                "storage":{"total":67108864,"others":10485760,"othersPurgeable":2097152,"used":41943040,
                "available":14680064,"important":25165824,"opportunistic":7966720,"reclaimable":10485760},
                "tiers":{"temporary":{"bytes":2097152,"files":3},"caches":{"bytes":6291456,"files":12},
                "persistent":{"bytes":33554432,"files":1}},
                "marked":{"purgeable":{"bytes":1048576,"files":1},"excludedFromBackup":{"bytes":4096,"files":2}},
                "pressure":"nearLow","purging":false,
                "thresholds":{"veryLow":3358720,"low":6713344,"nearLow":7049216,"desired":7385088},
                "device":{"state":"unlocked","clock":259200,"boots":2},
                "app":{"container":"0D6E8D52-7F36-4F0B-9D2B-3A2C3B8E1F10","running":true,"state":"foreground"},
                "counters":{"purgedFiles":37,"purgedBytes":38797312,"refusedWrites":5,"protectionDenied":2}}
                """)
    }

    /// Returns samples of a cache that grows and is purged, before and after an advance by three days.
    private static func samples() -> [ReportContent.Sample] {
        (0..<120).map { index in
            let second = Int64(index) * 2 + (index < 60 ? 0 : 259_200)
            return ReportContent.Sample(
                time: begin + second * 1_000_000_000, total: ByteCount(64 * mib),
                others: ByteCount((index < 80 ? 12 : 10) * mib), othersPurgeable: ByteCount(2 * mib),
                temporary: ByteCount(Int64(index % 10) * mib / 4), caches: ByteCount(Int64(index % 30) * mib),
                persistent: ByteCount(Int64(4 + index / 8) * mib))
        }
    }

    private static func history() -> ReportHistory {
        var history = ReportHistory()
        var seq: Int64 = 0
        func add(_ second: Int64, _ event: Event) {
            var event = event
            seq += 1
            (event.seq, event.time) = (seq, time(second))
            history.add(event)
        }
        add(0, Event(type: .mount))
        for index in 0..<60 {
            add(
                58,
                Event(
                    type: .purge, path: "Library/Caches/images/\(index).jpg", tier: .caches, bytes: ByteCount(mib / 2),
                    reason: "caches", trigger: .importantWrite, pid: 42, cause: "Documents/<import>.db",
                    process: "imp&ort"))
        }
        add(60, Event(type: .pressure, bytes: ByteCount(6 * mib), reason: "low", pid: 42))
        add(62, Event(type: .purge, bytes: ByteCount(mib), reason: "others", trigger: .pressure, pid: 43, process: "p"))
        add(90, Event(type: .pressure, bytes: ByteCount(9 * mib), reason: "normal"))
        add(259_300, Event(type: .clock, reason: "+3d"))
        add(
            259_330,
            Event(
                type: .refused, path: "Library/Caches/video.mp4", tier: .caches, bytes: ByteCount(mib), pid: 43,
                process: "ffmpeg"))
        add(259_340, Event(type: .device, reason: "locking"))
        add(259_350, Event(type: .device, reason: "locked"))
        add(259_380, Event(type: .device, reason: "unlocked"))
        add(
            259_400,
            Event(
                type: .purge, path: "tmp/x", tier: .temporary, bytes: ByteCount(4096), reason: "reboot",
                trigger: .reboot))
        add(259_400, Event(type: .device, reason: "beforeFirstUnlock", trigger: .reboot))
        add(259_410, Event(type: .device, reason: "unlocked"))
        return history
    }

    static func content() throws -> ReportContent {
        let now = Instant(nanoseconds: begin + 259_440 * 1_000_000_000)
        var content = ReportContent(
            time: .init(simulated: now, real: now.advanced(by: TimeSpan(seconds: -259_200))), version: "1.2.3")
        content.run = .init(program: "app-test", ending: "ended with 1", hasFailed: true, isStoreKept: true)
        content.status = try status()
        content.samples = samples()
        content.history = history()
        content.largest = [
            .init(
                path: "Documents/<b>\"movie\".mov", charged: ByteCount(24 * mib), tier: .persistent,
                exclusion: .excluded),
            .init(
                path: "Documents/feed/a", charged: ByteCount(mib), tier: .persistent, mark: .purgeable(.high)),
            .init(path: "Library/Caches/a\nb", charged: ByteCount(4096), tier: .caches, exclusion: .caches),
        ]
        content.findings = [
            .init(severity: "note", title: "empty files", advice: "Look.", path: "Documents/empty", bytes: .zero),
            .init(
                severity: "note", title: "empty files", advice: "Look.", path: "Documents/<a>",
                detail: "refused at 10:00 & 11:00"),
            .init(
                severity: "warning", title: "the backup is over 500 MB", advice: "Exclude data that can be recreated."),
        ]
        content.findingCounts = ["empty files": 1200]
        content.settings = [.init(name: "profile", value: "documented"), .init(name: "clock", value: "3d ahead")]
        content.policies = try ["Documents/feed", ""].map {
            try JSONText.decode(
                PolicyLine.self,
                from: #"{"path":"\#($0)","purgeAfter":"3d","sizeLimit":10485760,"used":4096,"files":2}"#)
        }
        content.remarks = ["tmp/secret: it cannot be read"]
        return content
    }

    /// The page shows a process only for writes and pressure. A command's purge names the process that gave the command.
    @Test(arguments: [
        (PurgeTrigger.command, false), (.policy, false), (.importantWrite, true), (.pressure, true),
    ]) func theWriter(trigger: PurgeTrigger, isShown: Bool) throws {
        var content = try Self.content()
        content.history = ReportHistory()
        var event = Event(
            type: .purge, path: "tmp/x", tier: .temporary, bytes: ByteCount(4096), reason: "temporary",
            trigger: trigger, pid: 4711, process: "purgefs")
        (event.seq, event.time) = (1, Self.time(0))
        content.history.add(event)
        #expect(ReportPage(content: content).text.contains("4711") == isShown)
    }

    @Test(arguments: [
        (0, "0"), (999, "999"), (1000, "1,000"), (67_108_864, "67,108,864"), (-1000, "-1,000"),
        (Int64.min, "-9,223,372,036,854,775,808"),
    ]) func groupedDigits(number: Int64, text: String) { #expect(number.grouped == text) }

    @Test func wholePage() throws {
        // The style is checked in its source.
        let page = ReportPage(content: try Self.content()).text.replacing("\(ReportStyle.rules)", with: "(style)")
        let path = "\(Self.folder)/page.html"
        if getenv("PURGEFS_ACCEPT_MESSAGES") != nil {
            try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644).writeAll(Array(page.utf8))
        }
        let expected = String(decoding: try FileDescriptor.open(path, O_RDONLY).readAll(), as: UTF8.self)
        #expect(page == expected, "the page differs from \(path)")
    }

    /// "In the end" means now, even if a clock that was set back left later samples.
    @Test func theEndIsNow() throws {
        var content = try Self.content()
        var later = content.samples[0]
        later.time = content.time.simulated.nanoseconds + 7_200_000_000_000
        (later.temporary, later.caches, later.persistent) = (.zero, .zero, ByteCount(50 * Self.mib))
        content.samples.insert(later, at: 0)
        content.history.add(Event(time: "2026-11-20T01:02:03.000Z", type: .mount))
        let page = ReportPage(content: content).text
        #expect(page.contains("Free space was between 2.0 MiB and 48.0 MiB; in the end 14.0 MiB."))
        #expect(page.contains("The container used at most 50.0 MiB; in the end 40.0 MiB."))
        #expect(page.contains("By directory and reason since 2026-11-20 01:02:03"))
    }

    /// The words describe all samples, even if fewer are drawn.
    @Test func extremesAmongMany() throws {
        var content = try Self.content()
        content.samples = (0..<9000).map { index in
            // The total in use stays the same. Once the container has most of it, and once the device is larger.
            let isPeak = index == 4321
            return ReportContent.Sample(
                time: Self.begin + Int64(index) * 1_000_000_000,
                total: ByteCount((index == 1234 ? 640 : 128) * Self.mib),
                others: ByteCount((isPeak ? 10 : 90) * Self.mib), othersPurgeable: .zero, temporary: .zero,
                caches: ByteCount((isPeak ? 90 : 10) * Self.mib), persistent: .zero)
        }
        let page = ReportPage(content: content).text
        #expect(page.contains("The container used at most 90.0 MiB;"))
        #expect(page.contains("Free space was between 14.0 MiB and 540.0 MiB;"))
        #expect(page.contains("<span>640.0 MiB</span>") && page.contains("<span>90.0 MiB</span>"))
    }

    /// Without curves, the page says why.
    @Test(arguments: [true, false]) func noSamples(isRecorded: Bool) throws {
        var content = try Self.content()
        content.samples = []
        content.isRecorded = isRecorded
        func chart() throws -> String {
            let page = ReportPage(content: content).text
            let start = try #require(page.ranges(of: "<div class=\"chart\">").first)
            return String(page[start.upperBound...])
        }
        let words =
            isRecorded
            ? "There are no curves: the journal has no samples yet. A mount takes them."
            : "There are no curves: with journal.size=0 nothing is recorded."
        #expect(try chart().hasPrefix("<p class=\"remark empty\">\(words)</p>\n<div class=\"lane-name\""))
        content.status = nil
        #expect(try chart().hasPrefix("<p class=\"remark empty\">\(words)</p>\n"))
    }

    /// No two classes share a colour.
    @Test func colours() throws {
        let rules = "\(ReportStyle.rules)"
        var classes: [String: Set<String>] = [:]
        for rule in rules.matches(of: /((?:\.[a-z-]+,? ?)+) \{ fill: var\(--([a-z-]+)\); \}/) {
            for name in rule.1.split(separator: ",") {
                classes[String(rule.2), default: []].insert(name.filter { $0 != " " && $0 != "." })
            }
        }
        let shared = classes.filter { $0.value.count > 1 }
        #expect(
            shared.isEmpty, "\(shared)")
    }

    /// The page loads nothing, and its only script is the filter. Its links lead to its own parts, which exist.
    @Test func nothingFromOutside() throws {
        let page = ReportPage(content: try Self.content()).text
        for word in [
            "http:", "https:", "url(", "src=", "@import", "@font-face", "<img", "<link", " on",
        ] {
            let found = word == " on" ? page.contains(" onclick=") || page.contains(" onload=") : page.contains(word)
            #expect(!found, "\(word)")
        }
        #expect(page.components(of: "<script") == 1 && page.contains("<script>\(ReportFilter.script)</script>"))
        let links = page.split(separator: "href=").dropFirst().map { $0.dropFirst().prefix { $0 != "\"" } }
        #expect(
            links.count >= 12 && links.allSatisfy { $0.hasPrefix("#") && page.contains(" id=\"\($0.dropFirst())\"") })
    }

    /// The policy of the page admits the script.
    @Test func hashOfTheScript() throws {
        let code =
            "import base64,hashlib,sys; print(base64.b64encode(hashlib.sha256(sys.argv[1].encode()).digest()).decode())"
        let hash = try Program.run(Program.python, "-c", code, "\(ReportFilter.script)").succeeded()
        #expect(ReportFilter.hash + "\n" == "sha256-" + hash)
    }

    /// "Nothing was purged" is said only if that is known.
    @Test func nothingHappened() {
        let nothing = "Nothing was purged or refused, and there are no findings."
        let now = Instant(nanoseconds: Self.begin)
        func page(_ change: (inout ReportContent) -> Void) -> String {
            var content = ReportContent(time: .init(simulated: now, real: now), version: "1.2.3")
            content.findings = []
            change(&content)
            return ReportPage(content: content).text
        }
        #expect(page { _ in }.contains(nothing))
        let unknown: [(inout ReportContent) -> Void] = [
            { $0.findings = nil }, { $0.isRecorded = false }, { $0.hasHistory = false },
            { $0.history.add(Event(type: .dropped, reason: "5 events")) },
        ]
        for change in unknown { #expect(!page(change).contains(nothing)) }
    }

    /// The space of other apps is no file of this one. A lost flag and a denied access have no part of their own.
    @Test func glance() {
        let now = Instant(nanoseconds: Self.begin)
        var content = ReportContent(time: .init(simulated: now, real: now), version: "1.2.3")
        content.history.add(Event(type: .purge, path: "tmp/a", bytes: ByteCount(Self.mib), reason: "temporary"))
        content.history.add(Event(type: .purge, bytes: ByteCount(2 * Self.mib), reason: "others"))
        content.history.add(Event(type: .flagLost, path: "Documents/a"))
        content.history.add(Event(type: .protectionDenied, path: "Documents/a"))
        let page = ReportPage(content: content).text
        for words in [
            "<a href=\"#purged\">1 file was purged</a> (1.0 MiB)",
            "<a href=\"#purged\">2.0 MiB of the system and other apps was purged</a>",
            "<a href=\"#story\">1 flag was lost</a>",
            "<a href=\"#story\">1 access was denied by data protection</a>",
        ] { #expect(page.contains(words), "\(words)") }
    }

    @Test func escaping() {
        let cases: [(String, String)] = [
            ("plain é 日本 👨\u{200D}👩", "plain é 日本 👨\u{200D}👩"),
            ("<script>alert('x')</script>", "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"),
            (#"" onload="x"#, "&quot; onload=&quot;x"), ("&lt;", "&amp;lt;"),
            ("a\nb\u{0}\u{1B}[2J\u{9B}", #"a\u{a}b\u{0}\u{1b}[2J\u{9b}"#),
            ("a\u{202E}fdp.exe\u{2066}\u{200F}", #"a\u{202e}fdp.exe\u{2066}\u{200f}"#),
            ("\u{FEFF}\u{AD}\u{2028}\u{E0041}\u{FFFF}", #"\u{feff}\u{ad}\u{2028}\u{e0041}\u{ffff}"#),
            ("\u{FFFD}", "\u{FFFD}"),
            ("e\u{301}\u{302}\u{303}\u{304}\u{305}", "e\u{301}\u{302}\u{303}" + #"\u{304}\u{305}"#),
        ]
        for (text, expected) in cases { #expect(HTMLText(text).escaped == expected) }
        #expect(HTMLText("0123456789", limit: 7).escaped == "01…6789")
        let interpolated: HTMLText = "<\("<")>"
        #expect(interpolated.escaped == "&lt;&lt;&gt;")
        #expect(
            HTML("p", ["title": "\"<"], "a<b", HTML("b", [:], "&")).markup
                == "<p title=\"&quot;&lt;\">a&lt;b<b>&amp;</b></p>\n")
    }

    /// Names chosen by an app are escaped wherever the page shows them.
    @Test func hostileNames() throws {
        let hostile = "</title></style><script>x</script><img src=x onerror=y>\u{202E}\u{1B}\"'&"
        var content = try Self.content()
        content.run = .init(program: hostile, ending: hostile, hasFailed: true, isStoreKept: true)
        content.status?.store = hostile
        content.status?.mountpoint = hostile
        content.status?.app.container = hostile
        content.status?.profile = hostile
        content.remarks = [hostile]
        content.largest = [.init(path: hostile, charged: ByteCount(1), tier: .caches)]
        content.findings = [.init(severity: "error", title: hostile, advice: hostile, path: hostile, detail: hostile)]
        content.settings = [.init(name: hostile, value: hostile)]
        for type in EventType.allCases {
            content.history.add(
                Event(
                    seq: 1, time: hostile, type: type, path: hostile + "/" + hostile, bytes: ByteCount(1),
                    reason: hostile,
                    pid: 1, cause: hostile, process: hostile))
        }
        let page = ReportPage(content: content).text
        #expect(page.components(of: "<script") == 1)
        for word in ["<script>x", "<img", "</style><", "\u{202E}", "\u{1B}", "onerror=y>"] {
            #expect(!page.contains(word))
        }
        #expect(page.components(of: "</style>") == 1 && page.components(of: "</title>") > 1)
    }

    /// Refusals of several files are one item, and so is the number of refusals without events of their own.
    @Test func refusalsOfManyFiles() throws {
        var content = try Self.content()
        content.history = ReportHistory()
        for (path, reason) in [("Documents/a", nil), ("Documents/b", nil), (nil, "7 more, of other files")] {
            content.history.add(
                Event(time: Self.time(0), type: .refused, path: path, reason: reason, pid: path.map { _ in 5 }))
        }
        content.history.add(Event(time: Self.time(0), type: .protectionDenied, reason: "9 more"))
        content.history.add(Event(time: Self.time(0), type: .hostFull, reason: "3 more, of other files"))
        let page = ReportPage(content: content).text
        for sentence in [
            "<b>Writes refused</b>: the disk under the store is full; 3 more, of other files.",
            "<b>Writes refused</b> in <bdi><code>Documents</code></bdi>: no room on the device, at least 2 times, by process 5.",
            "<b>Writes refused</b>: 7 more, of other files.", "Data protection denied access: 9 more.",
        ] { #expect(page.contains(sentence), "\(sentence)") }
        #expect(page.components(of: "7 more, of other files") == 2)  // also in the table
    }

    /// The size of the page is bounded, whatever the journal and the container contain.
    @Test func sizeIsBounded() throws {
        let long = String(repeating: "\u{202E}&\"", count: 1400)
        var content = try Self.content()
        content.samples = (0..<10_000).map { index in
            var sample = content.samples[index % content.samples.count]
            sample.time = Self.begin + Int64(index) * 7_000_000
            return sample
        }
        for index in 0..<5000 {
            let time = Instant(nanoseconds: Self.begin + Int64(index) * 13_000_000).iso8601
            content.history.add(
                Event(
                    seq: Int64(index), time: time, type: index % 2 == 0 ? .purge : .refused, path: "\(index)/\(long)",
                    bytes: ByteCount(1), reason: "caches", pid: 1, cause: long, process: long))
            content.history.add(
                Event(
                    time: time, type: .pressure, reason: index % 3 == 0 ? "low" : index % 3 == 1 ? "normal" : "veryLow")
            )
            content.history.add(
                Event(time: time, type: .device, reason: index % 2 == 0 ? "locked" : "beforeFirstUnlock"))
        }
        // Groups whose paths are escaped in the longest form.
        for group in 0..<100 {
            for index in 0..<30 {
                content.history.add(
                    Event(
                        time: Self.time(0), type: .purge, path: String(repeating: "\u{202E}", count: 300) + "\(index)",
                        reason: "caches", trigger: .command, pid: Int32(group + 1)))
            }
        }
        content.largest = (0..<20).map { _ in .init(path: long, charged: ByteCount(1), tier: .caches) }
        content.findings = (0..<3000).map {
            .init(
                severity: "error", title: "\($0 % 30)", advice: "\($0)" + String(repeating: "x", count: 9999),
                path: long, detail: long)
        }
        content.policies = Array(repeating: content.policies[0], count: 10_000)
        #expect(ReportPage(content: content).text.utf8.count < 1_000_000)
    }
}

extension String {
    fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
