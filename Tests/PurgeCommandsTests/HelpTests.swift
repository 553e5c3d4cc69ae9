import Glibc
import PurgeSystem
import Testing

@testable import PurgeCommandLine
@testable import PurgeCommands

/// Each complete help text must equal a file in Help/. To accept a change:
/// `PURGEFS_ACCEPT_HELP=1 swift test --filter HelpTests`.
struct HelpTests {
    private static let folder = "\(#filePath)".split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/Help"

    private func check(_ text: String, _ name: String) throws {
        let path = "\(Self.folder)/\(name).txt"
        if getenv("PURGEFS_ACCEPT_HELP") != nil {
            try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644).writeAll(Array(text.utf8))
        }
        let expected = String(decoding: try FileDescriptor.open(path, O_RDONLY).readAll(), as: UTF8.self)
        #expect(text == expected)
    }

    @Test(arguments: [["--help"], ["-h"], ["help"]]) func overview(words: [String]) throws {
        let session = Session(words)
        #expect(session.status == 0 && session.messages == "")
        try check(session.output, "purgefs")
    }

    /// Options with values may come before `--help`, but a word of COMMAND ends the options.
    @Test(arguments: [
        (["--total", "64M", "--help"], true), (["--at", "1s", "device.state=lock", "--help"], true),
        (["--at", "1s device.state=lock", "--help"], true), (["--at", "1s device.state=lock", "x", "--help"], false),
        (["--total=64M", "x", "--help"], false), (["--quiet", "x", "--help"], false),
    ]) func helpOfRun(words: [String], isHelp: Bool) {
        #expect((Session(["run"] + words).output == Session("help", "run").output) == isHelp)
    }

    @Test(arguments: Verbs.all.map(\.name)) func page(verb: String) throws {
        for words in [["help", verb], [verb, "--help"], [verb, "-h"], [verb, "x", "--help"]]
        where !["run", "sweep"].contains(verb) || words[1] != "x" {
            let session = Session(words)
            #expect(session.status == 0 && session.messages == "")
            try check(session.output, verb)
        }
    }

    @Test(arguments: Verbs.all.map(\.name)) func linesFitATerminal(verb: String) throws {
        let lines = Session("help", verb).output.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(lines.contains("EXIT STATUS") || lines.contains { $0.contains("explains") && $0.contains("statuses") })
        #expect(lines.contains { $0 == "EXAMPLE" || $0 == "EXAMPLES" })
    }

    @Test func hiddenOptionsAreHidden() {
        #expect(!Session("help", "mount").output.contains("ready-fd"))
    }

    @Test func version() { #expect(Session("--version").output == "purgefs \(Version.number)\n") }
}
