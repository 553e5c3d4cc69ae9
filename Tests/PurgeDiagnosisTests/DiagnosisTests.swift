import PurgeModel
import Testing

@testable import PurgeDiagnosis

/// The rules of a diagnosis, without a container.
struct DiagnosisTests {
    private static let day: Int64 = 86400
    private static let now = Instant(seconds: 100 * day, nanoseconds: 0)

    /// The attributes of each path, as `NAME=VALUE`.
    private typealias Flags = [String: [String]]

    private static func flags(_ texts: [String]) -> EntryFlags {
        var flags = EntryFlags()
        for text in texts {
            let parts = text.split(separator: "=")
            flags.set("user.purgefs.\(parts[0])", to: String(parts[1]))
        }
        return flags
    }

    private static func standing(of path: String, _ all: Flags) -> EntryStanding {
        let names = path.split(separator: "/").map(String.init)
        var standing = EntryStanding.root(flags(all["", default: []]))
        for index in names.indices {
            let above = names[..<index].joined(separator: "/")
            let own = names[...index].joined(separator: "/")
            standing = standing.entry(named: names[index].utf8, in: above, flags(all[own, default: []]))
        }
        return standing
    }

    private static func entry(
        _ path: String, _ all: Flags = [:], kind: DiagnosedEntry.Kind = .file, size: Int64 = 5, days: Int64 = 0,
        seconds: Int64 = 0, arrived: Int64? = nil, settled: Int64? = nil, target: DiagnosedEntry.PurgedTarget? = nil,
        stale: DiagnosedEntry.StalePath? = nil, events: [Event] = []
    ) -> DiagnosedEntry {
        var entry = DiagnosedEntry(path: path, kind: kind, standing: standing(of: path, all))
        entry.size = ByteCount(kind == .file ? size : 0)
        entry.modified = now.advanced(by: TimeSpan(seconds: -days * day - seconds))
        for event in events { entry.history.note(event) }
        entry.arrived = arrived.map { now.advanced(by: TimeSpan(seconds: -$0 * day)) }
        entry.settled = settled.map { now.advanced(by: TimeSpan(seconds: -$0)) }
        (entry.purgedTarget, entry.stalePath) = (target, stale)
        return entry
    }

    private static func found(
        _ entries: [DiagnosedEntry], _ standard: FileProtection = .completeUntilFirstUserAuthentication
    ) -> [String] {
        var diagnosis = Diagnosis(.init(now: now, protection: standard))
        for entry in entries { diagnosis.add(entry) }
        return diagnosis.report().findings.map { finding in
            [finding.severity.rawValue, finding.rule.rawValue, finding.path, finding.detail].compactMap { $0 }
                .joined(separator: " ")
        }
    }

    private static func event(
        _ type: EventType, days: Int64 = 0, seconds: Int64 = 0, reason: String? = nil, tombstone: Bool? = nil
    ) -> Event {
        Event(
            time: now.advanced(by: TimeSpan(seconds: -days * day - seconds)).iso8601, type: type, reason: reason,
            tombstone: tombstone)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let entry: DiagnosedEntry
        let found: [String]
        var testDescription: String { "\(entry.path): \(found)" }
        init(_ entry: DiagnosedEntry, _ found: String...) { (self.entry, self.found) = (entry, found) }
    }

    private static let places: [Case] = [
        Case(entry("Documents/letter.pages")), Case(entry("Library/Application Support/app.sqlite")),
        Case(entry("Library/Caches/Cache.db")), Case(entry("Library/Caches/thumbnail.jpg")),
        Case(
            entry("Library/Caches/app.sqlite"),
            "error databaseMayBePurged Library/Caches/app.sqlite because of its place, Library/Caches"),
        Case(entry("Library/Caches/app.sqlite-wal")),
        Case(entry("Library/Caches/com.apple.nsurlsessiond/x.sqlite")),
        Case(entry("Library/Caches/app/com.apple.metal/x.db")),
        Case(
            entry("Library/Caches/com.apple.db"),
            "error databaseMayBePurged Library/Caches/com.apple.db because of its place, Library/Caches"),
        Case(entry("tmp/com.apple.x/x.db"), "error databaseMayBePurged tmp/com.apple.x/x.db because of its place, tmp"),
        Case(entry("tmp/x.DB"), "error databaseMayBePurged tmp/x.DB because of its place, tmp"),
        Case(
            entry("Library/Caches/IMG_0042.jpg"),
            "error userContentMayBePurged Library/Caches/IMG_0042.jpg because of its place, Library/Caches"),
        Case(entry("Library/Caches/img_logo.jpg")), Case(entry("tmp/server.key")), Case(entry("tmp/frame.raw")),
        Case(
            entry("Documents/a.pdf", ["Documents": ["isPurgeable=low", "isExcludedFromBackup=1"]]),
            "error userContentMayBePurged Documents/a.pdf because of its mark, isPurgeable",
            "error userContentExcluded Documents/a.pdf"),
        Case(
            entry("Documents/feed/a.txt", ["Documents/feed": ["purgeAfter=3d"]]),
            "error userContentMayBePurged Documents/feed/a.txt because of the policy of its folder"),
        Case(entry("Documents/feed/a.txt", ["Documents/feed": ["purgeAfter=0"]])),
        Case(
            entry("Library/x.db", ["Library": ["isPurgeable=high"], "Library/x.db": ["isPurgeable=0"]])),
        Case(entry("tmp/a", days: 2)), Case(entry("tmp/a", days: 3), "warning oldTemporary tmp/a"),
        Case(entry("Library/Caches/a", days: 30)),
        // The file was copied to tmp and kept its time.
        Case(entry("tmp/a", days: 3000, arrived: 2)),
        Case(entry("tmp/a", days: 3000, arrived: 3), "warning oldTemporary tmp/a"),
        Case(entry("tmp/a", days: 1, arrived: 30)),
    ]

    private static let states: [Case] = [
        Case(entry("Documents/a", size: 0), "note emptyFile Documents/a"),
        Case(entry("Library/a.lock", size: 0)), Case(entry("Library/db/LOCK", size: 0)),
        Case(entry("Library/py/__init__.py", size: 0)), Case(entry("Library/app.log", size: 0)),
        Case(entry("Library/log.txt", size: 0), "note emptyFile Library/log.txt"),
        Case(entry("Library/Caches/a", size: 0)),
        // The file was rewritten within a second of the refusal.
        Case(entry("Documents/a", seconds: 1, events: [event(.refused, seconds: 2)])),
        Case(
            entry("Documents/a", size: 0, seconds: 1, events: [event(.refused, seconds: 2)]),
            "error writeRefused Documents/a empty, refused once"),
        Case(
            entry("Documents/a", size: 0, days: 1, events: [event(.refused, days: 1)]),
            "error writeRefused Documents/a empty, refused once"),
        Case(
            entry("Documents/a", size: 9, days: 2, events: [event(.refused, days: 2), event(.hostFull, days: 1)]),
            "error writeRefused Documents/a cut short, refused 2 times"),
        // Both files kept an old time when they were copied. The first was copied again after the refusal, the second was not.
        Case(entry("Documents/a", days: 3000, settled: 7, events: [event(.refused, seconds: 9)])),
        Case(
            entry("Documents/a", days: 3000, settled: 9, events: [event(.refused, seconds: 9)]),
            "error writeRefused Documents/a cut short, refused once"),
        // The file was written later.
        Case(entry("Documents/a", days: 1, events: [event(.refused, days: 2)])),
        Case(
            entry("Documents/a", size: 0, events: [event(.purge, tombstone: true)]),
            "note emptyFile Documents/a emptied by a purge"),
        Case(entry("Library/Caches/a", events: [event(.purge)])),
        Case(
            entry("Library/Caches/a", events: [event(.purge, days: 2), event(.purge, days: 1)]),
            "warning purgedAgain Library/Caches/a purged 2 times"),
        Case(entry("Library/Caches/a", size: 0, events: [event(.purge), event(.purge)])),
        Case(entry("Documents/link", kind: .symbolicLink)),
        Case(
            entry(
                "Documents/link", kind: .symbolicLink,
                target: .init(path: "Library/Caches/a", time: Instant(seconds: 60, nanoseconds: 0))),
            "warning purgedTarget Documents/link to Library/Caches/a, purged 1970-01-01T00:01:00.000Z"),
        Case(
            entry("Library/app.sqlite", events: [event(.lockHeld, reason: "shared lock (fcntl)")]),
            "note lockHeld Library/app.sqlite shared lock (fcntl), once"),
        Case(
            entry(
                "Documents", kind: .folder,
                events: [
                    event(.lockHeld, days: 1, reason: "shared lock (fcntl)"),
                    event(.lockHeld, reason: "exclusive lock (flock)"),
                ]), "note lockHeld Documents exclusive lock (flock), 2 times"),
    ]

    private static func stale(
        _ inner: String, texts: Int? = nil, place: String? = nil, end: Event? = nil, isHere: Bool = true
    ) -> DiagnosedEntry.StalePath? {
        ContainerPath(Array("/Containers/Data/Application/3F2504E0-4F89-41D3-9A0C-0305E82C3301/\(inner)".utf8)[...]).map
        {
            .init(path: $0, texts: texts, place: place, end: end, isHere: isHere)
        }
    }

    private static let stalePaths: [Case] = [
        Case(
            entry(
                "Documents/link", kind: .symbolicLink,
                stale: stale("Documents/a", end: Event(time: "THEN", type: .app, reason: "update"))),
            "warning stalePath Documents/link to Documents/a of container 3F2504E0-4F89-41D3-9A0C-0305E82C3301, before the "
                + "update of THEN; it is here now"),
        Case(
            entry(
                "Documents/a.db",
                stale: stale(
                    "b", texts: 1, place: "t.c", end: Event(time: "THEN", type: .restore, reason: "x"), isHere: false)),
            "warning stalePath Documents/a.db 1 text, in t.c: b of container 3F2504E0-4F89-41D3-9A0C-0305E82C3301, before "
                + "the restore of THEN; there is no such entry now"),
        Case(
            entry("Documents/a.plist", stale: stale("", texts: 2)),
            "warning stalePath Documents/a.plist 2 texts: the whole of container 3F2504E0-4F89-41D3-9A0C-0305E82C3301"),
        Case(
            entry("Documents/a.json", stale: stale("b", texts: 3, place: "$[0]")),
            "warning stalePath Documents/a.json 3 texts, first in $[0]: b of container "
                + "3F2504E0-4F89-41D3-9A0C-0305E82C3301; it is here now"),
    ]

    private static let protection: [Case] = [
        Case(
            entry("Documents/a", ["Documents/a": ["fileProtection=complete"]], events: [event(.protectionDenied)]),
            "error protectionDenied Documents/a complete, refused once"),
        Case(entry("Documents/a", ["Documents/a": ["fileProtection=complete"]])),
        // The file had another class at the time.
        Case(entry("Documents/a", events: [event(.protectionDenied, reason: "open complete locked")])),
        Case(
            entry(
                "Documents/a", ["Documents/a": ["fileProtection=completeUnlessOpen"]],
                events: [event(.protectionDenied, reason: "use complete locked")]),
            "error protectionDenied Documents/a completeUnlessOpen, refused once"),
        Case(
            entry(
                "Documents/a", ["Documents/a": ["fileProtection=completeWhenUserInactive"]],
                events: [event(.protectionDenied, reason: "open completeWhenUserInactive inactive")]),
            "error protectionDenied Documents/a completeWhenUserInactive, refused once"),
        // The file had class complete at the time. Its present class would have let it be opened.
        Case(
            entry(
                "Documents/a", ["Documents/a": ["fileProtection=completeWhenUserInactive"]],
                events: [event(.protectionDenied, reason: "open complete locked")])),
        Case(
            entry("Documents/a", events: [event(.protectionDenied), event(.protectionDenied)]),
            "error protectionDenied Documents/a completeUntilFirstUserAuthentication, refused 2 times"),
        Case(
            entry("Documents/a", ["Documents/a": ["fileProtection=none"]], events: [event(.protectionDenied)]),
            "note protectionNone Documents/a"),
        // The finding covers the folder, and not each file made in it.
        Case(
            entry(
                "Documents/d/a", ["Documents/d": ["fileProtection=none"], "Documents/d/a": ["fileProtection=none"]])),
        Case(
            entry("Documents/d", ["Documents/d": ["fileProtection=none"]], kind: .folder),
            "note protectionNone Documents/d for new items in it"),
    ]

    private static let lost = event(.flagLost, reason: "isExcludedFromBackup=1")
    private static let marks: [Case] = [
        Case(entry("Documents/a", events: [lost]), "warning flagLost Documents/a isExcludedFromBackup=1"),
        Case(entry("Documents/a", ["Documents/a": ["isExcludedFromBackup=0"]], events: [lost])),
        Case(entry("Documents/a", ["Documents/a": ["isExcludedFromBackup=1"]], events: [lost])),
        Case(entry("Documents/a", ["Documents": ["isExcludedFromBackup=1"]], events: [lost])),
        Case(
            entry("Library/a", events: [event(.flagLost, reason: "isPurgeable=high")]),
            "warning flagLost Library/a isPurgeable=high"),
        Case(
            entry("Library/a", ["Library": ["isPurgeable=low"]], events: [event(.flagLost, reason: "isPurgeable=0")]),
            "warning flagLost Library/a isPurgeable=0"),
        Case(
            entry("Library/a", ["Library": ["isPurgeable=low"]], events: [event(.flagLost, reason: "isPurgeable=low")])),
        Case(entry("Library/Caches/a", events: [event(.flagLost, reason: "isPurgeable=high")])),
        Case(entry("Library/a", ["Library/a": ["isPurgeable=low"]]), "warning purgeableInBackup Library/a"),
        Case(entry("Library/a", ["Library": ["isPurgeable=low"]])),
        Case(entry("Library/a", ["Library/a": ["isPurgeable=low", "isExcludedFromBackup=1"]])),
        Case(
            entry("Library/Caches/a", ["Library/Caches/a": ["isPurgeable=0"]]),
            "warning ineffectiveMark Library/Caches/a"),
        Case(
            entry("tmp/d", ["tmp/d": ["isExcludedFromBackup=1"]], kind: .folder), "note redundantExclusion tmp/d"),
        Case(
            entry("Library/d", ["Library/d": ["purgeAfter=manual", "sizeLimit=0"]], kind: .folder),
            "note policyWithoutLimit Library/d"),
        Case(entry("Library/d", ["Library/d": ["sizeLimit=4096"]], kind: .folder)),
    ]

    private static let sizes: [Case] = [
        Case(entry("Documents/a.mp4", size: 10_000_001), "warning largeFile Documents/a.mp4"),
        Case(entry("Documents/a.mov", size: 10_000_001), "note largeFile Documents/a.mov"),
        Case(entry("Documents/a.mp4", size: 10_000_000)),
        Case(
            entry("Documents/a.mov", size: 500_000_001), "warning largeBackup", "warning largeDocuments Documents",
            "note largeFile Documents/a.mov"),
        Case(
            entry("Documents/a.mov", size: 1_000_000_001), "warning largeBackup", "warning hugeDocuments Documents",
            "warning largeDocuments Documents", "note largeFile Documents/a.mov"),
        Case(entry("Library/Caches/a", size: 100_000_001), "warning largeCaches Library/Caches"),
        Case(entry("Library/Caches/a", size: 100_000_000)),
        Case(entry("Library/Caches/d/a", ["Library/Caches/d": ["sizeLimit=1G"]], size: 100_000_001)),
        Case(
            entry("Library/Caches/d/a", ["Library/Caches/d": ["sizeLimit=0"]], size: 100_000_001),
            "warning largeCaches Library/Caches"),
    ]

    @Test(arguments: [places, states, stalePaths, protection, marks, sizes].flatMap { $0 })
    func eachRule(_ each: Case) { #expect(Self.found([each.entry]) == each.found) }

    /// A hard-linked database in Caches is no finding, because purges skip it.
    @Test func severalNames() {
        var entry = Self.entry("Library/Caches/app.sqlite")
        entry.names = 2
        #expect(Self.found([entry]).isEmpty)
    }

    @Test func closedAndOddNames() {
        var entry = Self.entry("Documents/a", kind: .folder)
        (entry.isClosed, entry.nameProblem) = (true, .equal)
        #expect(
            Self.found([entry]) == [
                "error noPermission Documents/a",
                "note unusualName Documents/a differs from another name only in case or Unicode form",
            ])
        #expect(NameProblem.of("é \u{1F600}.txt".utf8) == nil && NameProblem.of([0xFF]) == .notUTF8)
        #expect(NameProblem.of("a\nb".utf8) == .control && NameProblem.of("a:b".utf8) == .forbidden)
        #expect(
            [" a", "a ", "a."].allSatisfy { NameProblem.of($0.utf8) == .blank } && NameProblem.of(".a".utf8) == nil)
    }

    /// Findings are sorted by severity and size. A thousand of each rule are kept, the largest ones, and all are counted.
    @Test func orderAndBound() {
        var diagnosis = Diagnosis(.init(now: Self.now, protection: .none))
        for number in 0..<5000 {
            diagnosis.add(Self.entry("tmp/\(number).db", size: Int64(number), days: 9))
        }
        let report = diagnosis.report()
        #expect(report.files == 5000 && report.bytes.bytes == 5000 * 4999 / 2)
        #expect(report.findings.count == 2000)
        #expect(report.rules.map(\.rule) == [.databaseMayBePurged, .oldTemporary])
        #expect(report.rules.map(\.findings) == [5000, 5000])
        #expect(report.findings.map { $0.bytes?.bytes } == [1, 2].flatMap { _ in (4000..<5000).reversed() })
        #expect(report.findings == report.findings.sorted())
    }

    @Test func everyRuleSaysWhatToDo() {
        for rule in DiagnosisRule.allCases {
            #expect(!rule.title.isEmpty && rule.advice.hasSuffix(".") && rule.title.count <= 62, "\(rule)")
        }
        #expect(DiagnosisRule.allCases.map(\.severity) == DiagnosisRule.allCases.map(\.severity).sorted())
    }
}
