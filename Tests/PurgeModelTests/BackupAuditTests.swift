import PurgeModel
import Testing

struct BackupAuditTests {
    private static let hour: Int64 = 3600 * 1_000_000_000

    /// Audits files of the given sizes. `flagged` lists the paths with an exclusion flag of their own.
    private func report(
        _ files: [(path: String, size: Int64)], flagged: Set<String> = [], hours: [String: Int64] = [:]
    ) -> BackupAuditReport {
        var audit = BackupAudit()
        var placements = ["": BackupPlacement.root(isFlagged: false)]
        func visit(_ path: String, _ size: Int64?) {
            let names = path.split(separator: "/")
            let parent = names.dropLast().joined(separator: "/")
            if placements[parent] == nil { visit(parent, nil) }
            guard let above = placements[parent] else { return }
            let placement = above.entry(named: (names.last ?? "").utf8, isFlagged: flagged.contains(path))
            placements[path] = placement
            audit.add(
                BackupAudit.Item(
                    path: path, isFile: size != nil, size: ByteCount(size ?? 0), placement: placement,
                    created: Instant(nanoseconds: 1000 * Self.hour),
                    lastUse: hours[path].map { Instant(nanoseconds: (1000 + $0) * Self.hour) }))
        }
        for file in files { visit(file.path, file.size) }
        return audit.report()
    }

    private func found(_ report: BackupAuditReport) -> [String] {
        report.findings.map { finding in
            ([finding.rule.rawValue, finding.path].compactMap { $0 }
                + [finding.bytes, finding.files.map { ByteCount($0) }]
                .compactMap { $0 }.map { String($0.bytes) }).joined(separator: " ")
        }
    }

    @Test func nothing() {
        let report = report([])
        #expect(report.bytes == .zero && report.files == 0 && report.folders.isEmpty && report.findings.isEmpty)
        #expect(report.tiers.map(\.tier) == [.temporary, .caches, .persistent])
    }

    /// Audits the names of a single file, in the order of a walk.
    private func linked(_ names: [(path: String, exclusion: BackupPlacement)]) -> BackupAuditReport {
        var audit = BackupAudit()
        for name in names {
            audit.add(
                BackupAudit.Item(
                    path: name.path, isFile: true, link: 7, size: ByteCount(20_000_000), placement: name.exclusion))
        }
        return audit.report()
    }

    private static let library = BackupPlacement.root(isFlagged: false).entry(named: "Library".utf8, isFlagged: false)
    private static let documents = BackupPlacement.root(isFlagged: false)
        .entry(named: "Documents".utf8, isFlagged: false)

    private static func caches() -> BackupPlacement {
        library.entry(named: "Caches".utf8, isFlagged: false).entry(named: "f".utf8, isFlagged: false)
    }

    /// The backup has the file under its second name, in whatever order the walk meets the names.
    @Test func severalNames() {
        let inBackup = Self.library.entry(named: "Preferences".utf8, isFlagged: false)
            .entry(named: "f".utf8, isFlagged: false)
        for names in [
            [("Library/Caches/f", Self.caches()), ("Library/Preferences/f", inBackup)],
            [("Library/Preferences/f", inBackup), ("Library/Caches/f", Self.caches())],
        ] {
            let report = linked(names)
            #expect(report.bytes == ByteCount(20_000_000) && report.files == 1 && report.leftOut.isEmpty)
            #expect(found(report) == ["largeFile Library/Preferences/f 20000000"])
            #expect(report.tiers.map(\.bytes.bytes) == [0, 0, 20_000_000])
        }
    }

    /// A file that is left out under all its names counts in the most durable place.
    @Test func severalNamesThatAreLeftOut() {
        let folder = Self.documents.entry(named: "x".utf8, isFlagged: true)
        let report = linked([
            ("Documents/x/f.jpg", folder.entry(named: "f.jpg".utf8, isFlagged: false)),
            ("Library/Caches/f", Self.caches()),
        ])
        #expect(report.bytes == .zero && report.leftOut.map(\.reason) == [.excluded])
        #expect(report.tiers.map(\.bytes.bytes) == [0, 0, 20_000_000])
    }

    /// Names that differ in bytes but are canonically equivalent stay apart.
    @Test func equivalentNames() {
        let report = report([("e\u{301}/a", 1), ("\u{e9}/b", 2)])
        #expect(report.folders.map(\.bytes.bytes) == [2, 1])
    }

    @Test func sums() {
        let report = report(
            [
                ("Documents/a", 100), ("Documents/b/c", 50), ("Documents/x/d", 7), ("Library/Caches/e", 1000),
                ("Library/Preferences/p", 30), ("Library/Application Support/s/t", 400), ("Library/loose", 2),
                ("tmp/t", 5), ("top", 1),
            ], flagged: ["Documents/x"])
        #expect(report.bytes == ByteCount(583) && report.files == 6)
        #expect(
            report.folders.map { "\($0.path) \($0.bytes.bytes) \($0.files)" } == [
                "Library/Application Support 400 1", "Documents 150 2", "Library/Preferences 30 1", "Library 2 1",
                ". 1 1",
            ])
        #expect(
            report.tiers.map { "\($0.tier) \($0.bytes.bytes) \($0.files) \($0.inBackup.bytes)" } == [
                "temporary 5 1 0", "caches 1000 1 0", "persistent 590 7 583",
            ])
        #expect(
            report.leftOut.map { "\($0.reason) \($0.bytes.bytes) \($0.files)" } == [
                "temporary 5 1", "caches 1000 1", "excluded 7 1",
            ])
        #expect(report.largest.first?.path == "Library/Application Support/s/t")
        #expect(report.largest.first?.bytes == ByteCount(400))
    }

    /// The audit lists the ten largest files, largest first and then by path.
    @Test func largest() {
        let files: [(String, Int64)] = (0..<2500).map { index in
            let size = index * 7919 % 2503 / 2 + 1
            return ("Documents/\(10000 + index)", Int64(size))
        }
        let expected = files.sorted { ($1.1, $0.0) < ($0.1, $1.0) }.prefix(10)
        #expect(report(files).largest.map(\.path) == expected.map(\.0))
    }

    /// Files of 10 MB in Documents, and one more.
    private static func documents(_ count: Int, and last: Int64? = nil) -> [(String, Int64)] {
        (0..<count).map { ("Documents/d/\($0)", 10_000_000) } + (last.map { [("Documents/last", $0)] } ?? [])
    }

    static let limits: [(files: [(String, Int64)], expected: [String])] = [
        ([("Documents/a", 10_000_000)], []),
        ([("Documents/a", 10_000_001)], ["largeFile Documents/a 10000001"]),
        ([("Library/Caches/a", 10_000_001)], []),
        ([("Documents/a", 0)], ["emptyFile Documents/a 0"]),
        ([("Library/a.db-wal", 0), ("Library/a.db-shm", 0), ("Library/a.db-journal", 0)], []),
        ([("Documents/.nomedia", 0)], []),
        ([("Documents/.folder/a", 0)], ["emptyFile Documents/.folder/a 0"]),
        ([("tmp/a", 0), ("Library/Caches/b", 0)], []),
        (
            [("Documents/a", 250_000_000), ("Documents/b", 250_000_000)],
            [
                "largeDocuments Documents 500000000 2", "largeFile Documents/a 250000000",
                "largeFile Documents/b 250000000",
            ]
        ),
        (
            [("Documents/a", 250_000_000), ("Documents/b", 250_000_001)],
            [
                "largeBackup 500000001 2", "largeDocuments Documents 500000001 2", "largeFile Documents/b 250000001",
                "largeFile Documents/a 250000000",
            ]
        ),
        (documents(10), []), (documents(10, and: 1), ["largeDocuments Documents 100000001 11"]),
        (documents(100), ["largeBackup 1000000000 100", "largeDocuments Documents 1000000000 100"]),
        (
            documents(100, and: 1),
            [
                "largeBackup 1000000001 101", "hugeDocuments Documents 1000000001 101",
                "largeDocuments Documents 1000000001 101",
            ]
        ),
        ((0..<11).map { ("Library/Application Support/\($0)", 10_000_000) }, []),
        ([("DocumentsToo/a", 10_000_000)] + documents(9, and: 9_999_999), []),
    ]
    @Test(arguments: limits) func sizes(row: (files: [(String, Int64)], expected: [String])) {
        #expect(found(report(row.files.map { (path: $0.0, size: $0.1) })) == row.expected)
    }

    /// Excluded files in Documents do not count.
    @Test func documentsThatAreLeftOut() {
        let files = Self.documents(10, and: 1).map { (path: $0.0, size: $0.1) }
        #expect(found(report(files, flagged: ["Documents/last"])) == [])
        #expect(found(report(files, flagged: ["Documents"])) == [])
    }

    @Test func userContent() {
        let files: [(String, Int64)] = [
            ("Documents/Book.PDF", 10), ("Documents/album/one.jpg", 20), ("Documents/album/two.heic", 30),
            ("Documents/album/index.db", 40), ("Documents/kept.pdf", 1), ("Documents/podcast.mp3", 50),
            ("Documents/.pdf", 60), ("Library/Application Support/x.pdf", 70),
        ]
        let flagged: Set = [
            "Documents/Book.PDF", "Documents/album", "Documents/podcast.mp3", "Documents/.pdf",
            "Library/Application Support/x.pdf",
        ]
        #expect(
            found(report(files.map { (path: $0.0, size: $0.1) }, flagged: flagged)) == [
                "userContentExcluded Documents/album 50 2", "userContentExcluded Documents/Book.PDF 10 1",
            ])
    }

    @Test func redundantExclusions() {
        let report = report(
            [("Library/Caches/a", 1), ("tmp/b", 2), ("Library/x/y", 3), ("Library/x/z", 4)],
            flagged: ["Library/Caches/a", "tmp/b", "Library/x", "Library/x/y"])
        #expect(
            found(report) == [
                "redundantExclusion Library/x/y 3", "redundantExclusion tmp/b 2",
                "redundantExclusion Library/Caches/a 1",
            ])
    }

    /// A file of tmp or Library/Caches counts as reused if its last use is a day or more after its creation.
    @Test func reusedCaches() {
        let report = report(
            [
                ("Library/Caches/a", 1), ("Library/Caches/b", 2), ("tmp/c", 3), ("Library/Caches/d", 4),
                ("Documents/e", 5),
            ],
            hours: ["Library/Caches/a": 24, "Library/Caches/b": 23, "tmp/c": 500, "Documents/e": 500])
        #expect(found(report) == ["reusedCache tmp/c 3", "reusedCache Library/Caches/a 1"])
    }
}
