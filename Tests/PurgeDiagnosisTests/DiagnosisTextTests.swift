import PurgeModel
import PurgeStore
import Testing

@testable import PurgeDiagnosis

struct DiagnosisTextTests {
    private static func finding(_ rule: DiagnosisRule, _ path: String?, _ bytes: Int64?, _ detail: String? = nil)
        -> DiagnosisFinding
    {
        DiagnosisFinding(rule, path: path, bytes: bytes.map { ByteCount($0) }, detail: detail)
    }

    private static func lines(
        _ findings: [DiagnosisFinding], known: [DiagnosisRule: Int64] = [:], verbose: Bool = false
    ) -> [String] {
        var counts = known
        for finding in findings where known[finding.rule] == nil { counts[finding.rule, default: 0] += 1 }
        return FindingsText(
            findings: findings, rules: counts.map { .init(rule: $0.key, findings: $0.value) }, isVerbose: verbose
        ).lines
    }

    @Test func nothing() { #expect(Self.lines([]) == ["No findings."]) }

    @Test func groups() {
        let long = "Library/Caches/" + String(repeating: "deep/", count: 20) + "end.db"
        let findings = [
            Self.finding(.databaseMayBePurged, long, 5 << 20, "because of its place, Library/Caches"),
            Self.finding(.databaseMayBePurged, "tmp/a\u{1B}.db", 100, "because of its place, tmp"),
            Self.finding(.noPermission, "Documents", nil), Self.finding(.largeBackup, nil, 1 << 30),
        ]
        #expect(
            Self.lines(findings) == [
                "! error: databases that may be purged (2)",
                "       5.0 MiB  ...deep/deep/deep/deep/deep/deep/deep/deep/deep/deep/deep/end.db",
                "                    because of its place, Library/Caches",
                "         100 B  tmp/a\\u{1b}.db  because of its place, tmp",
                "  A database does not recreate itself, and losing one of its files breaks it.",
                "  Move it to Library/Application Support, without marks; exclude it from the",
                "  backup if it can be recreated.",
                "",
                "! error: files and folders that the app may not read (1)",
                "    Documents",
                "  Restore the owner's permission (chmod u+rwX), and find the code that removed",
                "  it.",
                "",
                "! warning: the backup is over 500 MB",
                "  Exclude data that can be downloaded again, or keep it in Library/Caches.",
            ])
    }

    /// Control characters in a detail are escaped, because it may name files of the container.
    @Test func detailsAreShownSafely() {
        let lines = Self.lines([Self.finding(.purgedTarget, "a", nil, "to tmp/\u{1B}[31m\u{202E}, purged then")])
        #expect(lines[1] == #"    a  to tmp/\u{1b}[31m\u{202e}, purged then"#)
    }

    /// Both representations of a history return the noted events.
    @Test func histories() {
        var generator = SystemRandomNumberGenerator()
        var histories = PathHistories()
        var expected: [String: PathHistory] = [:]
        let types: [EventType] = [.purge, .purge, .purge, .refused, .protectionDenied, .flagLost, .lockHeld, .removed]
        for number in 0..<2000 {
            let event = Event(
                time: number % 11 == 0 ? "nonsense" : Instant(seconds: Int64(number), nanoseconds: 0).iso8601,
                type: types.randomElement(using: &generator) ?? .purge,
                path: number % 17 == 0 ? nil : "tmp/\(Int.random(in: 0..<700, using: &generator))",
                reason: "isPurgeable=low", tombstone: number % 5 == 0 ? true : nil)
            histories.note(event)
            if let path = event.path { expected[path, default: PathHistory()].note(event) }
        }
        for number in 0..<700 { #expect(histories["tmp/\(number)"] == expected["tmp/\(number)"] ?? PathHistory()) }
    }

    @Test func onlyTheFirst() {
        let findings = (1...8).map { Self.finding(.emptyFile, "Documents/\($0)", 0) }
        let shown = Self.lines(findings)
        #expect(shown[0] == "! note: empty files (8)" && shown[6] == "    and 3 more (--verbose)" && shown.count == 8)
        #expect(Self.lines(findings, verbose: true).count == 10)
        // Findings that were not kept are only counted.
        let many = Self.lines(findings, known: [.emptyFile: 2000], verbose: true)
        #expect(many[0] == "! note: empty files (2000)" && many[9] == "    and 1992 more")
    }

    /// Findings with different advice form separate groups.
    @Test func groupsByAdvice() {
        let findings = ["Documents/a.mov", "Documents/a.zip", "Library/a.mp3"].map {
            DiagnosisFinding(BackupFinding(rule: .largeFile, path: $0, bytes: ByteCount(20_000_000)))
        }.sorted()
        let titles = Self.lines(findings).filter { $0.hasPrefix("!") }
        #expect(
            titles == [
                "! warning: files over 10 MB in the backup (1)", "! warning: files over 10 MB in the backup (1)",
                "! note: files over 10 MB in the backup (1)",
            ])
    }

    private static let plain = PathDiagnosis(
        path: "Documents/a\nb", kind: .file, location: .init(tier: .persistent, purgedBy: nil, names: 1),
        protection: .init(class: .complete, isOwn: true, state: .locked, canBeOpened: false),
        backup: .init(isIncluded: true, reason: nil, ownFlag: nil, excludedBy: nil),
        purging: .init(
            ownMark: nil, inheritedMark: nil, inheritedFrom: nil, policy: nil, group: nil, leavesTombstone: false),
        state: .init(
            bytes: ByteCount(5), charged: ByteCount(4096), modified: "2026-11-23T04:20:11.000Z", lastUse: nil,
            emptiness: nil),
        folder: FolderSum(path: "Documents"),
        device: .init(
            pressure: .normal, available: ByteCount(60 << 30), total: ByteCount(64 << 30), lowBelow: ByteCount(6 << 30)),
        history: .init(
            purges: 0, lastPurge: nil, refusedWrites: 0, lastRefusal: nil, protectionDenied: 0, lastDenial: nil),
        findings: [], rules: [])

    private static func text(_ diagnosis: PathDiagnosis) -> String {
        let lines = PathDiagnosisText(diagnosis: diagnosis, isVerbose: false).lines
        #expect(lines.allSatisfy { $0.count <= 80 })
        return lines.joined(separator: "\n")
    }

    /// For a file that can be opened now, the text says so, and until when if that ends by itself.
    @Test(
        arguments: [
            (.complete, .unlocked, "now"), (.complete, .locking, "now, until the grace period ends"),
            (.completeUnlessOpen, .locking, "now, until the grace period ends"),
            (.completeWhenUserInactive, .unlocked, "now"),
            (.completeWhenUserInactive, .locking, "now, until access expires (device.inactivity)"),
            (.completeWhenUserInactive, .locked, "now, until access expires (device.inactivity)"),
            (.completeUntilFirstUserAuthentication, .locked, "now"), (.none, .beforeFirstUnlock, "now"),
        ] as [(FileProtection, LockState, String)])
    func untilWhenAFileCanBeOpened(protection: FileProtection, state: LockState, answer: String) {
        var diagnosis = Self.plain
        diagnosis.protection = .init(class: protection, isOwn: true, state: state, canBeOpened: true)
        let words = Self.text(diagnosis).split { " \n".contains($0) }.joined(separator: " ")
        #expect(words.contains(" It can be opened \(answer) backup "))
    }

    @Test func lockedFile() {
        #expect(
            Self.text(Self.plain) == """
                Documents/a\\u{a}b
                  place       persistent: never purged because of its place while the app is
                              installed
                  state       file of 5 B, takes 4.0 KiB; changed 2026-11-23T04:20:11.000Z
                  purging     may not be purged
                  protection  complete (its own): inaccessible while the device is locked. It
                              cannot be opened now: wait for the unlock, or use
                              completeUntilFirstUserAuthentication
                  backup      in the backup
                  folder      Documents: 0 B in 0 files
                  device      pressure normal: 60.0 GiB of 64.0 GiB free; low below 6.0 GiB

                No findings.
                """)
    }

    private static func emptied() -> PathDiagnosis {
        var diagnosis = plain
        diagnosis.path = "Library/Caches/feed/1"
        diagnosis.location = .init(tier: .caches, purgedBy: .caches, names: 1)
        diagnosis.protection = .init(
            class: .completeUntilFirstUserAuthentication, isOwn: false, state: .beforeFirstUnlock, canBeOpened: false)
        diagnosis.backup = .init(isIncluded: false, reason: .caches, ownFlag: true, excludedBy: nil)
        diagnosis.purging = .init(
            ownMark: nil, inheritedMark: "high", inheritedFrom: "Library",
            policy: .init(path: "Library/Caches/feed", purgeAfter: 259_200, sizeLimit: ByteCount(10 << 20)),
            group: "Library/Caches/feed", leavesTombstone: true)
        diagnosis.state.bytes = .zero
        diagnosis.state.charged = nil
        diagnosis.state.lastUse = "2026-11-22T04:20:11.000Z"
        diagnosis.state.emptiness = .emptiedByPurge
        diagnosis.device.pressure = .veryLow
        diagnosis.device.lowBelow = .zero
        diagnosis.history = .init(
            purges: 2, lastPurge: "2026-11-23T04:20:11.000Z", refusedWrites: 1, lastRefusal: nil, protectionDenied: 0,
            lastDenial: nil)
        diagnosis.findings = [finding(.emptyFile, "Library/Caches/feed/1", 0, "emptied by a purge")]
        diagnosis.rules = [.init(rule: .emptyFile, findings: 1)]
        return diagnosis
    }

    @Test func emptiedFile() {
        #expect(
            Self.text(Self.emptied()) == """
                Library/Caches/feed/1
                  place       Library/Caches: purged when the device needs room; never backed up
                  state       file of 0 B: emptied by a purge; changed 2026-11-23T04:20:11.000Z,
                              last used 2026-11-22T04:20:11.000Z
                  purging     may be purged because of its place, Library/Caches; purging
                              empties it and leaves its name; together with all files in
                              Library/Caches/feed; isPurgeable is high, set on Library
                  policy      files are purged after 3d, the oldest are purged at 10.0 MiB, set
                              on Library/Caches/feed
                  protection  completeUntilFirstUserAuthentication (the device's default):
                              inaccessible from a reboot until the first unlock. It cannot be
                              opened now: wait for the first unlock after the reboot
                  backup      left out, because it is in Library/Caches; its own
                              isExcludedFromBackup has no effect
                  folder      Documents: 0 B in 0 files
                  device      pressure veryLow: 60.0 GiB of 64.0 GiB free
                  history     purged 2 times, last 2026-11-23T04:20:11.000Z; a write refused
                              once

                ! note: empty files (1)
                           0 B  Library/Caches/feed/1  emptied by a purge
                  A failed write may have left them. Check for empty files when opening them.
                """)
    }

    @Test func folderAndLink() {
        var diagnosis = Self.plain
        diagnosis.kind = .folder
        diagnosis.location.purgedBy = .purgeable
        diagnosis.purging.ownMark = "low"
        diagnosis.backup = .init(isIncluded: false, reason: .excluded, ownFlag: nil, excludedBy: ".")
        diagnosis.protection = .init(class: .none, isOwn: true, state: .unlocked, canBeOpened: true)
        let folder = Self.text(diagnosis)
        #expect(folder.contains("  state       folder of 0 B in 0 files and 0 folders; changed"))
        #expect(folder.contains("  purging     its files may be purged because of its mark, isPurgeable;\n"))
        #expect(folder.contains("  protection  none (its own): the class of new items in it\n"))
        #expect(folder.contains("  backup      left out because of isExcludedFromBackup of .\n"))
        #expect(!folder.contains("\n  folder "))
        diagnosis.kind = .symbolicLink
        (diagnosis.protection, diagnosis.location.purgedBy) = (nil, nil)
        #expect(Self.text(diagnosis).contains("symbolic link; its target is not checked"))
    }

    @Test(arguments: [
        (DiagnosedEntry.Kind.symbolicLink, Tier.temporary, "takes no space, so only commands and reboots remove it"),
        (.symbolicLink, .caches, "takes no space, so only commands remove it"),
        (.symbolicLink, .persistent, "may not be purged: it is neither in tmp nor in Library/Caches, and"),
        (.special, .temporary, "never purged, because it is a pipe, socket or device; a reboot"),
        (.special, .caches, "never purged, because it is a pipe, socket or device"),
        (.special, .persistent, "never purged, because it is a pipe, socket or device"),
    ]) func noFile(kind: DiagnosedEntry.Kind, tier: Tier, expected: String) {
        var diagnosis = Self.plain
        diagnosis.kind = kind
        diagnosis.protection = nil
        diagnosis.location = .init(tier: tier, purgedBy: nil, names: 1)
        #expect(Self.text(diagnosis).contains("  purging     \(expected)\n"))
        guard kind == .symbolicLink, tier == .persistent else { return }
        (diagnosis.purging.inheritedMark, diagnosis.purging.inheritedFrom) = ("low", "Library")
        #expect(Self.text(diagnosis).contains("takes no space, so only commands remove it; isPurgeable is"))
    }

    /// The members appear in this order, and members that do not apply are omitted.
    @Test func json() {
        let text = JSONText.encode(Self.plain)
        #expect(
            text
                == #"{"path":"Documents/a\nb","kind":"file","location":{"tier":"persistent","names":1},"#
                + #""protection":{"class":"complete","isOwn":true,"state":"locked","canBeOpened":false},"#
                + #""backup":{"isIncluded":true},"purging":{"leavesTombstone":false},"#
                + #""state":{"bytes":5,"charged":4096,"modified":"2026-11-23T04:20:11.000Z"},"#
                + #""folder":{"path":"Documents","bytes":0,"files":0,"folders":0},"#
                + #""device":{"pressure":"normal","available":64424509440,"total":68719476736,"lowBelow":6442450944},"#
                + #""history":{"purges":0,"refusedWrites":0,"protectionDenied":0},"findings":[],"rules":[]}"#)
        let finding = JSONText.encode(Self.finding(.largeBackup, nil, 1))
        #expect(
            finding == #"{"rule":"largeBackup","severity":"warning","bytes":1,"advice":"Exclude data that can be "#
                + #"downloaded again, or keep it in Library/Caches."}"#)
    }
}
