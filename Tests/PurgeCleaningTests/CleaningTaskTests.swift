import PurgeModel
import Testing

@testable import PurgeCleaning

struct CleaningTaskTests {
    private static let accepted: [(text: String, path: String)] = [
        ("a", "a"), ("Library/Caches/images", "Library/Caches/images"), ("a/", "a"), ("a//b/./c/.", "a/b/c"),
        (".", ""), ("./a", "a"), ("..a", "..a"), ("a/...", "a/..."), ("a*", "a*"), (" a ", " a "), ("ä", "ä"),
        (".purgefsx", ".purgefsx"), ("a/.purgefs", "a/.purgefs"), ("a\nb", "a\nb"),
    ]

    @Test(arguments: accepted) func acceptedPaths(row: (text: String, path: String)) throws {
        #expect(try CleaningPath(row.text, reserved: ".purgefs").bytes == Array(row.path.utf8))
    }

    private static let refused: [(text: String, refusal: CleaningRefusal)] = [
        ("", .empty), ("/", .absolute), ("/a", .absolute), ("//a", .absolute), ("..", .goesUp), ("../a", .goesUp),
        ("a/..", .goesUp), ("a/../b", .goesUp), ("./..//b", .goesUp), ("a\0b", .hasZero), (".purgefs", .reserved),
        ("./.purgefs/events", .reserved),
    ]

    @Test(arguments: refused) func refusedPaths(row: (text: String, refusal: CleaningRefusal)) {
        #expect(throws: row.refusal) { try CleaningPath(row.text, reserved: ".purgefs") }
    }

    @Test func foldersOfEveryContainer() throws {
        for text in ["tmp", "Documents/", "Library", "Library/Caches", "Library//Application Support"] {
            #expect(try CleaningPath(text, reserved: "").isOfTheLayout, "\(text)")
        }
        for text in ["tmp/a", "documents", "Caches", "Library/Caches/a", "."] {
            #expect(try !CleaningPath(text, reserved: "").isOfTheLayout, "\(text)")
        }
    }

    /// A pattern, names that it matches, and names that it does not match.
    private static let table: [(pattern: String, takes: [String], leaves: [String])] = [
        ("*", ["a", ".hidden", "a b", "*", "ä", "\n"], []),
        ("**", ["a", "ab"], []),
        ("*.tmp", [".tmp", "a.tmp", "a.tmp.tmp", ".a.tmp"], ["tmp", "a.tmpx", "a.TMP", "a.tm"]),
        ("a*", ["a", "ab", "a*"], ["b", "", "ba"]),
        ("a*b*c", ["abc", "aXbYc", "abbcc", "abcbc"], ["ab", "acb", "abcx", "xabc"]),
        ("*aab", ["aab", "aaab", "aabaab"], ["aaba", "ab"]),
        ("a", ["a"], ["A", "aa", "", "*"]),
        ("[ab]?", ["[ab]?"], ["a1", "b", "[ab]x"]),
        ("\\*", ["\\", "\\a", "\\*"], ["*", "a"]),
        ("./a/", ["a"], ["b"]),
    ]

    @Test(arguments: table) func whatPatternsTake(row: (pattern: String, takes: [String], leaves: [String])) throws {
        let selection = EntrySelection([try EntryPattern(row.pattern)])
        for name in row.takes { #expect(selection.verdict(on: Array(name.utf8)) == .goes, "\(name)") }
        for name in row.leaves { #expect(selection.verdict(on: Array(name.utf8)) == .stays, "\(name)") }
    }

    @Test func bytesThatAreNotText() throws {
        let selection = EntrySelection([try EntryPattern("*.tmp")])
        #expect(selection.verdict(on: [0xFF, 0xFE] + Array(".tmp".utf8)) == .goes)
        // One letter in two canonically equivalent forms.
        #expect(EntrySelection([try EntryPattern("\u{E9}")]).verdict(on: Array("e\u{301}".utf8)) == .stays)
    }

    /// A backtracking matcher would need exponential time for this pattern.
    @Test func manyStars() throws {
        let pattern = try EntryPattern(String(repeating: "*a", count: 100) + "b")
        #expect(EntrySelection([pattern]).verdict(on: [UInt8](repeating: UInt8(ascii: "a"), count: 255)) == .stays)
    }

    /// An exception stays, and so do the folders on the way to it; everything else in these goes.
    @Test func exceptions() throws {
        func names(_ path: String) -> [[UInt8]] { path.split(separator: "/").map { Array($0.utf8) } }
        let selection = EntrySelection([.all], except: [names("a"), names("b/c/d"), names("b/e")])
        #expect(selection.verdict(on: Array("a".utf8)) == .stays)
        #expect(selection.verdict(on: Array("ab".utf8)) == .goes && selection.verdict(on: Array("d".utf8)) == .goes)
        guard case .mayHold(let inB) = selection.verdict(on: Array("b".utf8)),
            case .mayHold(let inC) = inB.verdict(on: Array("c".utf8))
        else {
            Issue.record("b and b/c hold an exception")
            return
        }
        #expect(inB.verdict(on: Array("e".utf8)) == .stays && inB.verdict(on: Array("a".utf8)) == .goes)
        #expect(inC.verdict(on: Array("d".utf8)) == .stays && inC.verdict(on: Array("e".utf8)) == .goes)
    }

    @Test func starsDoNotCrossSlashes() throws {
        let selection = EntrySelection([try EntryPattern("a*/*.db"), try EntryPattern("b/c/d"), try EntryPattern("x*")])
        #expect(selection.verdict(on: Array("xyz".utf8)) == .goes)
        #expect(selection.verdict(on: Array("c.db".utf8)) == .stays)
        guard case .mayHold(let inA) = selection.verdict(on: Array("a1".utf8)) else {
            Issue.record("a1 may hold entries")
            return
        }
        #expect(inA.verdict(on: Array("c.db".utf8)) == .goes)
        #expect(inA.verdict(on: Array("c".utf8)) == .stays && inA.verdict(on: Array("xyz".utf8)) == .stays)
        guard case .mayHold(let inB) = selection.verdict(on: Array("b".utf8)),
            case .mayHold(let inC) = inB.verdict(on: Array("c".utf8))
        else {
            Issue.record("b/c may hold entries")
            return
        }
        #expect(inC.verdict(on: Array("d".utf8)) == .goes)
    }

    @Test(arguments: [
        ("", CleaningRefusal.empty), (".", .empty), ("/a", .absolute), ("a/../b", .goesUp), ("\0", .hasZero),
    ])
    func refusedPatterns(text: String, refusal: CleaningRefusal) {
        #expect(throws: refusal) { try EntryPattern(text) }
    }
}

struct CleaningProgressTests {
    private typealias Step = @Sendable (inout CleaningProgress) -> Bool

    /// Each step, whether it changes the progress, and the percentage after it.
    private static let steps: [(what: String, step: Step, changes: Bool, percent: Int)] = [
        ("half of the first part", { $0.advance(to: 1, of: 2) }, true, 12),
        ("all of it", { $0.advance(to: 2, of: 2) }, true, 25),
        ("its end", { $0.endPart() }, false, 25),
        ("the end of the second", { $0.endPart() }, true, 50),
        ("nearly all of the third", { $0.advance(to: 99, of: 100) }, true, 74),
        ("a step back", { $0.advance(to: 1, of: 100) }, false, 74),
        ("more than all of it", { $0.advance(to: 500, of: 100) }, true, 75),
        ("its end", { $0.endPart() }, false, 75),
        ("the end of the last, which is not the end", { $0.endPart() }, true, 99),
        ("one too many", { $0.endPart() }, false, 99),
        ("the end", { $0.end() }, true, 100),
        ("the end again", { $0.end() }, false, 100),
    ]

    @Test func partsTakeTheSameShare() {
        var progress = CleaningProgress(.cleaning, parts: 4)
        #expect(progress.fraction == 0)
        for (what, step, changes, percent) in Self.steps {
            let hasChanged = step(&progress)
            #expect(hasChanged == changes && progress.percent == percent, "\(what)")
        }
        #expect(progress.fraction == 1)
    }

    @Test func nothingToDo() {
        var progress = CleaningProgress(.preCalculating, parts: 0)
        let hasBegun = progress.advance(to: 0, of: 0)
        let hasEnded = progress.end()
        #expect(!hasBegun && hasEnded && progress.fraction == 1)
    }
}
