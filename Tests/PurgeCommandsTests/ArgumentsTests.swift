import PurgeModel
import Testing

@testable import PurgeCommandLine
@testable import PurgeCommands

struct ArgumentsTests {
    private static let level = OptionSpec("level", .choice("LEVEL", ["low", "high"], others: ["LOW"]), "")
    private static let mark = OptionSpec("mark", .optionalChoice("KIND", ["a", "b"]), "")
    private static let verb = Verb(
        name: "test", summary: "", synopsis: "", description: [],
        options: [.total, .mountOptions, .quiet, .readyDescriptor, level, mark], operands: 0...3, exitStatus: []
    ) { _ in 0 }

    private func parse(_ words: String...) throws(CommandFailure) -> Arguments { try Arguments(words, for: Self.verb) }

    @Test func valuesAreAttachedOrFollow() throws {
        #expect(try parse("--total", "4K").size(.total) == ByteCount(4096))
        #expect(try parse("--total=4K").size(.total) == ByteCount(4096))
        #expect(try parse("-o", "ro").texts(.mountOptions) == ["ro"])
        #expect(try parse("-oro").texts(.mountOptions) == ["ro"])
        #expect(try parse("--level=LOW").text(Self.level) == "LOW")
    }

    @Test func operandsAndOptionsMix() throws {
        let arguments = try parse("a", "--quiet", "b", "-o", "x", "-")
        #expect(arguments.operands == ["a", "b", "-"] && arguments.has(.quiet))
        #expect(arguments.positions == [0, 2, 5])
    }

    @Test func twoDashesEndOptions() throws {
        let arguments = try parse("--quiet", "--", "--total", "--")
        #expect(arguments.operands == ["--total", "--"] && !arguments.has(.total))
    }

    /// The repeatable options with a value. Every other option of every verb takes at most one value.
    private static let addingUp = [
        "run --at", "run --fault", "run --fail-on", "run -o", "mount -o", "sweep -o", "run --shared", "mount --shared",
        "sweep --shared", "sweep --moments", "purge --path", "clean --hook", "events --type",
    ]

    @Test(arguments: Verbs.all.flatMap { verb in verb.options.map { (verb.name, $0) } })
    func aSecondValueAddsUpOrIsRefused(name: String, option: OptionSpec) throws {
        let verb = try Verbs.named(name)
        let operands = verb.words.prefix(1) + Array(repeating: "x", count: verb.operands.lowerBound)
        let words = Self.words(option) + Self.words(option) + operands.prefix(max(1, verb.operands.lowerBound))
        let doesAddUp = Self.addingUp.contains("\(name) \(option.text)")
        #expect(option.isHidden || option.help.lowercased().contains("may be repeated") == doesAddUp)
        if option.value == .none {
            #expect(throws: Never.self) { try Arguments(words, for: verb) }
        } else if doesAddUp {
            #expect(try Arguments(words, for: verb).texts(option).count == 2)
        } else {
            #expect(throws: CommandFailure.usage("\(option.text) is given twice; it takes one value")) {
                try Arguments(words, for: verb)
            }
        }
    }

    private static func words(_ option: OptionSpec) -> [String] {
        switch option.value {
        case .none: [option.text]
        case .size, .number: [option.text, "1"]
        case .duration: [option.text, "1s"]
        case .file, .directory, .text, .list: [option.text, "x"]
        case .moment: [option.text, "1s", "x=y"]
        case .choice(_, let words, _): [option.text, words[0]]
        case .optionalChoice(_, let words): ["\(option.text)=\(words[0])"]
        }
    }

    /// A second value is refused even if it is the same or empty.
    @Test func anOptionalValueIsGivenOnce() throws {
        #expect(throws: CommandFailure.self) { try parse("--mark", "--mark=a") }
        #expect(throws: CommandFailure.self) { try parse("--total", "1K", "--total=1K") }
    }

    @Test func anOptionalValueIsAttachedOrNotThere() throws {
        #expect(try parse("--mark", "x").text(Self.mark) == "")
        #expect(try parse("--mark", "x").operands == ["x"])
        #expect(try parse("--mark=b").text(Self.mark) == "b")
    }

    @Test func aCommandKeepsItsOptions() throws {
        let arguments = try Arguments(["--quiet", "ls", "--quiet", "--", "-l"], for: .run)
        #expect(arguments.operands == ["ls", "--quiet", "--", "-l"])
        let other = try Arguments(["--", "--odd", "--total", "x"], for: .run)
        #expect(other.operands == ["--odd", "--total", "x"] && !other.has(.total))
    }

    @Test(arguments: [
        (["--nothing"], "unknown option '--nothing'"), (["-x"], "unknown option '-x'"),
        (["--o", "ro"], "unknown option '--o'"), (["--totl=1K"], "unknown option '--totl'; did you mean '--total'?"),
        (["-total", "1K"], "unknown option '-total'; did you mean '--total'?"),
        (["--quite"], "unknown option '--quite'; did you mean '--quiet'?"),
        (["--foreground"], "unknown option '--foreground'; only mount has it"),
        (["--total=64k"], "--total: '64k' is not a size; did you mean '64K'?"),
        (["--total=0.1G"], "--total: '0.1G' is not a whole number of bytes; use a smaller unit"),
        (["--total=2000000T"], "--total: '2000000T' is more than 1 EiB, the largest size"),
        (["--total"], "--total SIZE: the value is missing"),
        (["--quiet=1"], "--quiet takes no value"), (["a", "b", "c", "d"], "unexpected operand 'd'"),
        (["--level", "mid"], "--level: 'mid' is not one of low, high"),
        (["--level", "hihg"], "--level: 'hihg' is not one of low, high; did you mean 'high'?"),
        (
            ["--total", "--"],
            "--total SIZE: the value is missing: `--` ends the options"
        ),
        (["--mark", "a"], "--mark takes its value after '=': --mark=a (for a file of that name, write ./a)"),
        (["--mark=c"], "--mark: 'c' is not one of a, b"), (["--ready-fd", "-1"], "--ready-fd: '-1' is not a number"),
        (["--ready-fd="], "--ready-fd: '' is not a number"),
        (["--ready-fd=9223372036854775808"], "--ready-fd: '9223372036854775808' is more than 9223372036854775807"),
    ])
    func wrongWords(words: [String], message: String) {
        #expect(throws: CommandFailure.usage(message)) { try Arguments(words, for: Self.verb) }
    }

    @Test(arguments: ["0", "4294967295", "4294967296", "9223372036854775807"]) func numbers(text: String) {
        #expect(throws: Never.self) { try Arguments(["--ready-fd", text], for: Self.verb) }
    }

    @Test(arguments: ["", "x", "-1", "1.3K", "12Q", "9999999T"]) func wrongSizes(text: String) {
        #expect(throws: CommandFailure.self) { try Arguments(["--total", text], for: Self.verb) }
    }
}
