import Glibc
import PurgeSystem
import Testing

@testable import PurgeCommandLine
@testable import PurgeCommands

/// The tables of docs/CLI.md must match the help.
struct ExitStatusTests {
    private static let page =
        "\(#filePath)".split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/docs/CLI.md"

    /// Returns the rows of the first table of exit statuses below a heading.
    private func table(below heading: String) throws -> [String] {
        let page = String(decoding: try FileDescriptor.open(Self.page, O_RDONLY).readAll(), as: UTF8.self)
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
        let section = lines.drop { $0 != "## \(heading)" }.dropFirst().prefix { !$0.hasPrefix("## ") }
        let rows = section.drop { $0 != "| status | meaning |" }.dropFirst(2)
        return Array(rows.prefix { $0.hasPrefix("|") })
    }

    private func rows(_ lines: [HelpSection.Line]) -> [String] { lines.map { "| \($0.name) | \($0.meaning) |" } }

    @Test func ofAllVerbs() throws {
        let expected = rows(ExitStatus.plain)
        #expect(try table(below: "Exit statuses") == expected)
    }

    @Test func ofRun() throws {
        let expected = rows(Verb.run.exitStatus)
        #expect(try table(below: "run") == expected)
    }
}
