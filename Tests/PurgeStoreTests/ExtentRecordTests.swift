import Glibc
import PurgeModel
import PurgeSystem
import Support
import Testing

@testable import PurgeStore

struct ExtentRecordTests {
    /// The gap and length of each run, as little-endian groups of seven bits.
    static let known: [([Range<Int64>], [UInt8])] = [
        ([], []), ([0..<1], [0, 1]), ([3..<5], [3, 2]), ([0..<1, 2..<4], [0, 1, 1, 2]),
        ([127..<128], [127, 1]), ([128..<129], [0x80, 1, 1]), ([300..<600], [0xAC, 2, 0xAC, 2]),
        ([1 << 31..<1 << 31 + 1], [0x80, 0x80, 0x80, 0x80, 8, 1]),
    ]
    @Test(arguments: known) func encodesRuns(runs: [Range<Int64>], bytes: [UInt8]) {
        #expect(ExtentRecord.encode(ExtentSet(runs: runs)) == bytes)
        #expect(ExtentRecord.decode(bytes)?.runs == runs)
    }

    @Test func decodesWhatItEncoded() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<500 {
            var runs: [Range<Int64>] = []
            var end: Int64 = 0
            for _ in 0..<random.below(40) {
                let start = end + Int64(1 + random.below(1 << random.below(30)))
                end = start + Int64(1 + random.below(1 << random.below(20)))
                runs.append(start..<end)
            }
            #expect(ExtentRecord.decode(ExtentRecord.encode(ExtentSet(runs: runs)))?.runs == runs)
        }
    }

    /// An unterminated number, a number without its partner, one too large, and a sum too large.
    static let damaged: [[UInt8]] = [
        [0x80], [0, 0x81], [5], [0, 1, 5], [UInt8](repeating: 0x80, count: 12) + [1, 1],
        [UInt8](repeating: 0xFF, count: 9) + [0x7F, 1], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 1],
        [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 1],
        // A run past the end of any file, an empty run, and two adjacent runs.
        [0x80, 0x80, 0x80, 0x80, 0x10, 1], [0, 0], [3, 1, 0, 1],
    ]
    @Test(arguments: damaged) func refusesWhatItNeverWrote(bytes: [UInt8]) {
        #expect(ExtentRecord.decode(bytes) == nil)
    }

    /// Random bytes are refused or give valid runs: no damage may crash the daemon.
    @Test func randomBytesAreDecodedOrRefused() {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<5000 {
            let bytes = (0..<random.below(30)).map { _ in UInt8(random.below(256)) }
            guard let set = ExtentRecord.decode(bytes) else { continue }
            #expect(set.runs.allSatisfy { $0.lowerBound >= 0 && !$0.isEmpty })
        }
    }
}

/// The record of a file in a store, in the attribute or in a sidecar.
struct ExtentRecordStoreTests {
    let directory: TemporaryDirectory
    let store: Store
    let file: FileDescriptor
    init() throws {
        directory = try TemporaryDirectory()
        store = try Store.open(directory["store"], creating: true)
        file = try FileDescriptor.open(directory["store/container/f"], O_RDWR | O_CREAT, mode: 0o644)
    }

    private static func runs(_ count: Int) -> [Range<Int64>] { (0..<Int64(count)).map { 1000 * $0..<1000 * $0 + 300 } }
    private var sidecars: [String] { directory.names(in: "store/extents") }
    private func attribute() throws -> [UInt8] {
        try Support.Attributes.get(directory["store/container/f"], "user.purgefs.extents")
    }

    @Test func aFileWithoutOneHasNone() throws {
        #expect(try store.extentRecord(of: file.raw, nil) == nil)
    }

    @Test func aShortListIsTheAttribute() throws {
        var record = ExtentRecord(runs: ExtentSet(runs: [3..<5]))
        try store.setExtentRecord(&record, of: file.raw, nil)
        #expect(try attribute() == [UInt8(ascii: "i"), 3, 2])
        #expect(try store.extentRecord(of: store.container.raw, "Documents/../f")?.runs.runs == [3..<5])
        #expect(record.sidecar == nil)
        #expect(sidecars == [])
    }

    @Test func aLongListIsASidecar() throws {
        var record = ExtentRecord(runs: ExtentSet(runs: Self.runs(500)))
        try store.setExtentRecord(&record, of: file.raw, nil)
        let name = try #require(record.sidecar)
        #expect(sidecars == [name])
        #expect(try attribute() == Array("s\(name)".utf8))
        let found = try #require(try store.extentRecord(of: file.raw, nil))
        #expect(found.runs.runs == Self.runs(500))
        #expect(found.sidecar == name)
    }

    @Test func nothingIsLeftOfTheListBefore() throws {
        var record = ExtentRecord(runs: ExtentSet(runs: Self.runs(500)))
        try store.setExtentRecord(&record, of: file.raw, nil)
        let first = try #require(record.sidecar)
        record.runs = ExtentSet(runs: Self.runs(600))
        try store.setExtentRecord(&record, of: file.raw, nil)
        #expect(record.sidecar == first)
        #expect(sidecars == [first])
        #expect(try store.extentRecord(of: file.raw, nil)?.runs.runs == Self.runs(600))
        record.runs = ExtentSet(runs: [0..<1])
        try store.setExtentRecord(&record, of: file.raw, nil)
        #expect(sidecars == [])
        #expect(try store.extentRecord(of: file.raw, nil)?.runs.runs == [0..<1])
    }

    @Test(arguments: [1, 500]) func droppedItIsGone(count: Int) throws {
        var record = ExtentRecord(runs: ExtentSet(runs: Self.runs(count)))
        try store.setExtentRecord(&record, of: file.raw, nil)
        try store.dropExtentRecord(record, of: file.raw, nil)
        #expect(try store.extentRecord(of: file.raw, nil) == nil)
        #expect(sidecars == [])
        try store.dropExtentRecord(record, of: file.raw, nil)
    }

    private func damage() throws -> ExtentDamage {
        try #require(throws: ExtentDamage.self) { try store.extentRecord(of: file.raw, nil) }
    }

    @Test(arguments: [
        ("", "is not a list"), ("x", "is not a list"), ("i\u{1}", "is not a list"),
        (
            "i\u{1}\u{1}\u{1}",
            "is not a "
                + "list"
        ),
        (String(repeating: "i", count: 3000), "is not a list"), ("s", "does not name a sidecar of purgefs"),
        ("s../../outside", "does not name a sidecar of purgefs"), ("s..", "does not name a sidecar of purgefs"),
        ("s/etc/passwd", "does not name a sidecar of purgefs"), ("sABC", "does not name a sidecar of purgefs"),
        ("sabcdefghijklmn", "does not name a sidecar of purgefs"),
    ])
    func damageIsReported(value: String, what: String) throws {
        try Support.Attributes.set(directory["store/container/f"], "user.purgefs.extents", value)
        #expect(try damage() == ExtentDamage(what: what, countsAsFull: false))
    }

    /// A record that a loss of power can leave counts as full.
    @Test func aSidecarThatIsMissingOrEmpty() throws {
        try Support.Attributes.set(directory["store/container/f"], "user.purgefs.extents", "snone")
        let missing = ExtentDamage(what: "is in a sidecar that is missing, extents/none", countsAsFull: true)
        #expect(try damage() == missing)
        try directory.makeDirectory("store/extents")
        #expect(try damage() == missing)
        try directory.write("", to: "store/extents/none")
        #expect(
            try damage() == ExtentDamage(what: "is in a sidecar that is empty, extents/none", countsAsFull: true))
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["fifo", "link", "directory", "second name", "bytes", "2 GiB"])
    func anOddSidecar(kind: String) throws {
        var record = ExtentRecord(runs: ExtentSet(runs: Self.runs(500)))
        try store.setExtentRecord(&record, of: file.raw, nil)
        let path = directory["store/extents/\(try #require(record.sidecar))"]
        switch kind {
        case "second name": try System.link(at: AT_FDCWD, path, to: AT_FDCWD, directory["outside"])
        case "bytes": try FileDescriptor.open(path, O_WRONLY | O_TRUNC).writeAll([0x80])
        case "2 GiB": try #require(truncate(path, 2 << 30) == 0)
        default:
            try System.rename(at: AT_FDCWD, path, to: AT_FDCWD, directory["outside"])
            switch kind {
            case "fifo": try System.makeNode(at: AT_FDCWD, path, mode: S_IFIFO | 0o600, device: 0)
            case "link": try System.makeSymbolicLink(to: directory["outside"], at: AT_FDCWD, path)
            default: try System.makeDirectory(at: AT_FDCWD, path, mode: 0o700)
            }
        }
        #expect(try !damage().countsAsFull)
        #expect(kind == "bytes" || kind == "2 GiB" || directory.exists("outside"))
    }

    /// A sidecar that belongs to no file is reported, and removed on request.
    @Test func straySidecars() throws {
        var record = ExtentRecord(runs: ExtentSet(runs: Self.runs(500)))
        try store.setExtentRecord(&record, of: file.raw, nil)
        let name = try #require(record.sidecar)
        try directory.write("x", to: "store/extents/stray")
        try directory.write("x", to: "store/extents/\(name).new")
        let paths = ["\(name).new", "stray"].sorted().map { directory["store/extents/\($0)"] }
        #expect(try store.straySidecars(needed: [name], removing: false).map(\.path) == paths)
        #expect(sidecars.count == 3)
        let removed = try store.straySidecars(needed: [name], removing: true)
        #expect(removed.map(\.repair) == ["It has been removed.", "It has been removed."])
        #expect(sidecars == [name])
    }
}
