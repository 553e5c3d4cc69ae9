import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Testing

@testable import PurgeBackup

struct ManifestTests {
    private static let uuid = "64D2D0B7-3CC8-46A4-8F77-4F2C0B6C3E11"
    private var header = BackupHeader(
        created: "2026-11-22T12:00:00.000Z", container: uuid, source: "/srv/app.store",
        device: Device(containerID: "BCECD7BE-1878-46E5-AFAF-9D9972909D1E"))

    private func entry(_ path: [UInt8]) -> ManifestEntry {
        var record = EntryRecord(path: path, kind: .file)
        record.modified = timespec(tv_sec: -2, tv_nsec: 5)
        var data = Checksum()
        data.add(path)
        return ManifestEntry(record, data: data)
    }

    private func written(_ entries: [ManifestEntry], _ omissions: [ManifestOmission] = []) throws -> FileDescriptor {
        let file = try Spool.make()
        let writer = try ManifestWriter(header, to: file, path: "test")
        var totals = ManifestTotals()
        for entry in entries {
            totals.add(entry)
            try writer.add(entry)
        }
        totals.add(omissions)
        try writer.finish(omissions, totals)
        return file
    }

    private func all(_ reader: ManifestReader) throws -> [ManifestEntry] {
        var found: [ManifestEntry] = []
        while let entry = try reader.nextEntry() { found.append(entry) }
        return found
    }

    private static let odd: [[UInt8]] = [
        [], Array("Documents".utf8), Array("a\"b\\c\nd\u{1}/ü".utf8), [0xff, 0xfe, 0x0a], [0x80],
        Array(repeating: 0x61, count: 5000),
    ]

    @Test func readsBackWhatItWrote() throws {
        let entries = (Self.odd + (0..<1000).map { Array("Documents/\($0)".utf8) }).map(entry)
        let omissions = [
            ManifestOmission(Array("tmp".utf8), .temporary), ManifestOmission([0xff], .excluded),
        ]
        let reader = try ManifestReader(try written(entries, omissions), path: "test")
        let found = try all(reader)
        #expect(found == entries)
        #expect(found.prefix(Self.odd.count).map(\.bytes) == Self.odd)
        #expect(try [reader.nextOmission(), reader.nextOmission(), reader.nextOmission()] == omissions + [nil])
        #expect(reader.totals.entries == 1006 && reader.header.source == "/srv/app.store")
    }

    /// The manifest lists the runs of data of a file whose holes are zeros in the archive, unless a line cannot hold them all.
    @Test func moreHolesThanALineHolds() throws {
        var record = EntryRecord(path: [UInt8](repeating: 0xff, count: 100), kind: .file)
        record.size = 1 << 40
        record.runs = (0..<Int64(80_000)).map { $0 << 20..<$0 << 20 + 4096 }
        let entry = ManifestEntry(record, data: Checksum())
        let found = try all(try ManifestReader(try written([entry]), path: "test"))
        #expect(found == [entry])
        record.runs = Array(record.runs.prefix(10_000))
        let fewer = ManifestEntry(record, data: Checksum())
        let same = try all(try ManifestReader(try written([fewer]), path: "test"))
        #expect(same.first?.runs?.count == 10_000)
    }

    /// A header with a malformed time or identifier is refused, because both are written to a journal and a terminal.
    @Test(arguments: [
        ("2026-11-22T12:00:00.000Z", "C"), ("2026-11-22T12:00:00.000Z", "64D2D0B7-3CC8-46A4-8F77-4F2C0B6C3E1\u{1B}"),
        ("now", uuid), ("\u{1B}[31m2026-11-22T12:00:0", uuid), ("2026-11-22T12:00:00.000Z\n", uuid),
    ])
    func hostileHeader(created: String, container: String) throws {
        var other = self
        (other.header.created, other.header.container) = (created, container)
        let file = try other.written([])
        #expect(throws: StoreError.self) { try ManifestReader(file, path: "test") }
    }

    @Test func entryWithTwoPaths() { #expect(ManifestPath.decoded("a", "Yg==") == nil) }

    @Test(arguments: [(-1, 0), (0, -1)]) func omissionOfNegativeSize(bytes: Int64, entries: Int64) throws {
        var omission = ManifestOmission(Array("tmp".utf8), .temporary)
        (omission.bytes, omission.entries) = (bytes, entries)
        let reader = try ManifestReader(try written([], [omission]), path: "test")
        _ = try all(reader)
        #expect(throws: StoreError.self) { try reader.nextOmission() }
    }

    /// A batch of entries is also limited in bytes.
    @Test func longLines() throws {
        let entries = (0..<300).map { entry([UInt8](repeating: 0x61, count: 20_000 + $0)) }
        let found = try all(try ManifestReader(try written(entries), path: "test"))
        #expect(found == entries)
    }

    /// The writer refuses lines that the reader would refuse.
    @Test func linesThatAreTooLong() throws {
        #expect(throws: StoreError.self) { try written([entry([UInt8](repeating: 0x61, count: 1 << 20))]) }
        let long = entry([UInt8](repeating: 0x61, count: 1_000_000))
        let found = try all(try ManifestReader(try written([long]), path: "test"))
        #expect(found == [long])
    }

    @Test func withoutEntries() throws {
        let reader = try ManifestReader(try written([]), path: "test")
        #expect(try all(reader).isEmpty && reader.nextOmission() == nil)
    }

    /// Every flipped bit and every truncation of a small manifest is detected.
    @Test func damageIsSeen() throws {
        let file = try written([entry(Array("Documents/a".utf8))], [ManifestOmission(Array("tmp".utf8), .temporary)])
        let content = try file.readAll()
        func isRefused(_ bytes: [UInt8]) throws -> Bool {
            let copy = try Spool.make()
            try copy.writeAll(bytes)
            do {
                _ = try ManifestReader(copy, path: "test")
                return false
            } catch { return true }
        }
        #expect(try !isRefused(content))
        var accepted: [Int] = []
        for index in content.indices {
            for bit in 0..<8 {
                var damaged = content
                damaged[index] ^= 1 << UInt8(bit)
                if try !isRefused(damaged) { accepted.append(index) }
            }
            if try !isRefused(Array(content[..<index])) { accepted.append(-index) }
        }
        #expect(accepted.isEmpty)
    }

    /// A line with wrong content is refused even if the checksum is correct.
    @Test(arguments: [
        "", "{}", "{\"kind\":\"purgefs backup\",\"version\":1,\"entries\":[",
        "{\"kind\":\"other\",\"version\":1,\"entries\":[", "{\"kind\":\"purgefs backup\",\"version\":2,\"entries\":[",
        String(repeating: "[", count: 900_000), String(repeating: "x", count: 3_000_000),
    ])
    func hostile(line: String) throws {
        let body =
            "\(line)\n],\"leftOut\":[\n],\"totals\":{\"entries\":0,\"bytes\":0,\"leftOut\":0,\"leftOutBytes\":0},\n"
        var checksum = Checksum()
        checksum.add(body.utf8)
        let file = try Spool.make()
        try file.writeAll(Array((body + "\"crc32\":\"\(checksum.text)\"}\n").utf8))
        #expect(throws: StoreError.self) { try ManifestReader(file, path: "test") }
    }

    @Test func times() {
        for time in [(0, 0), (1_700_000_000, 1), (-2, 999_999_999), (Int.min, 0), (Int.max, 5)] {
            let text = Timestamp.text(timespec(tv_sec: time.0, tv_nsec: time.1))
            let read = Timestamp.reading(text)
            #expect(read?.tv_sec == time.0 && read?.tv_nsec == time.1)
        }
        for text in [
            "", ".", "1", "1.5", "1.0000000000", "a.000000000", "1.-00000001", "99999999999999999999.000000000",
        ] {
            #expect(Timestamp.reading(text) == nil)
        }
    }

    @Test func paths() {
        for path in ["Documents", "Documents/a", "Library", "a..b", ".purgefs2", "Documents/.purgefs", "Documents/tmp"]
        {
            #expect(RestorablePath.isAllowed(Array(path.utf8)), "\(path)")
        }
        for path in [
            "/etc", "..", "../a", "a/../b", "./a", "a/.", "a//b", "a/", "/", ".purgefs", ".purgefs/events", "tmp",
            "tmp/a",
            "Library/Caches", "Library/Caches/a", "a\0b", String(repeating: "x", count: 256),
        ] {
            #expect(!RestorablePath.isAllowed(Array(path.utf8)), "\(path)")
        }
        #expect(RestorablePath.isAllowed([]) && RestorablePath.inContainer(Array("container/".utf8)) == nil)
        #expect(RestorablePath.inContainer(Array("container/a".utf8)) == [0x61])
        for name in ["container", "/container/a", "a", "containers/a", "container/../a", "manifest.json"] {
            #expect(RestorablePath.inContainer(Array(name.utf8)) == nil, "\(name)")
        }
    }
}
