import PurgeModel
import Testing

@Suite struct PurgeRequestTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    static let understood: [(String, PurgeRequest)] = [
        ("tmp", .byRule(.temporary)), ("tmp\n", .byRule(.temporary)), ("all\0", .byRule(.all)),
        ("64K\0Library/Caches", .byRule(.bytes(ByteCount(65536)), below: bytes("Library/Caches"))),
        ("all\0tmp/d\0\n", .byRule(.all, below: bytes("tmp/d"))),
        ("paths\0tmp/a", .paths([bytes("tmp/a")])), ("paths\0tmp/a\n", .paths([bytes("tmp/a")])),
        ("paths\0tmp/a\n\0", .paths([bytes("tmp/a\n")])), ("paths\0a\0b/c\0", .paths([bytes("a"), bytes("b/c")])),
        ("paths\0 a b\0\t\0...\0", .paths([bytes(" a b"), bytes("\t"), bytes("...")])),
        ("evenOpen tmp\n", .evenOpen(.byRule(.temporary))),
        ("evenOpen caches\0Library", .evenOpen(.byRule(.caches, below: bytes("Library")))),
        ("evenOpen paths\0tmp/a\0", .evenOpen(.paths([bytes("tmp/a")]))),
        ("evenOpen globs\0*.db", .evenOpen(.globs([bytes("*.db")]))),
        ("globs\0*", .globs([bytes("*")])), ("globs\0/a\0[*\0", .globs([bytes("/a"), bytes("[*")])),
    ]
    @Test(arguments: understood) func understands(text: String, request: PurgeRequest) {
        #expect(PurgeRequest(Self.bytes(text)) == request)
        #expect(PurgeRequest(request.bytes) == request, "what it writes reads back")
    }

    @Test func takesAnyByte() {
        #expect(
            PurgeRequest(Self.bytes("paths\0tmp/") + [0xFF, 0x0A, 0x80, 0])
                == .paths([Self.bytes("tmp/") + [0xFF, 0x0A, 0x80]]))
    }

    @Test(arguments: [
        "", "\n", "\0", "paths", "paths\0", "paths\0\n", "globs", "globs\0", "all\0a\0b", "all\0/a", "all\0a/",
        "paths\0/tmp/a", "paths\0tmp/", "paths\0a//b", "paths\0.", "paths\0a/../b", "paths\0./a", "paths\0..",
        "paths\0a\0\0b", "globs\0a\0\0b", "path\0a", "paths tmp/a", "everything\0a", "\0a",
        "evenOpen", "evenOpen ", "evenOpen all", "evenOpen 1M", "evenOpen 1M\0tmp", "evenOpen paths",
        "evenOpen\0paths\0a",
        "evenOpen evenOpen tmp", "evenOpen  tmp", "EvenOpen tmp",
    ]) func refuses(text: String) {
        #expect(PurgeRequest(Self.bytes(text)) == nil)
    }

    /// The paths fill as many requests as needed, in order, each short enough for one write(2).
    @Test func manyPathsAreSeveralRequests() {
        let paths = (0..<10_000).map {
            Self.bytes("Library/Caches/" + String(repeating: "n", count: $0 % 90) + "\($0)")
        }
        let requests = PurgeRequest.requests(for: paths)
        #expect(requests.count > 1 && requests.allSatisfy { $0.bytes.count <= 262_144 })
        let found = requests.flatMap { request -> [[UInt8]] in
            if case .paths(let part) = request { part } else { [] }
        }
        #expect(found == paths)
        #expect(PurgeRequest.requests(for: []).isEmpty)
    }
}
