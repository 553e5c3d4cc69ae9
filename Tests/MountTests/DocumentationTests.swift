import Foundation
import Glibc
import Support
import Testing

extension Mounts {
    /// The examples of README.md and docs/ run as they are printed, except for those that state why they are not run.
    @Suite struct DocumentationTests {
        private static let runnable = DocumentedExample.all.filter(\.isRun)

        @Test(arguments: runnable.filter { !$0.isLong }) func examplesWork(example: DocumentedExample) throws {
            try UserShell.with("example") { shell in try Self.run(example, shell) }
        }

        /// Examples that need the programs of `mount-scripts/install-deps long`.
        @Test(.enabled(if: Scale.factor >= 1, "needs compilers of `make long`"), arguments: runnable.filter(\.isLong))
        func longExamplesWork(example: DocumentedExample) throws {
            try UserShell.with("example") { shell in try Self.run(example, shell) }
        }

        /// Examples of the help pages, run with the files that they name.
        @Test func helpExamplesWork() throws {
            for (verb, commands) in try Self.helpExamples() {
                #expect(!commands.isEmpty, "\(verb)")
                for command in commands {
                    var example = DocumentedExample(page: "help \(verb)", line: 0, language: "sh", lines: [command])
                    example.place = ["run", "mount", "check"].contains(verb) ? .store : .mounted
                    example.options = "--total 64M"
                    example.preparation = ["tmp/f", "Library/Caches/thumbnails", "Documents/album"].map {
                        "head -c 2M /dev/zero > app/\($0)"
                    }
                    example.preparation += [Self.cleaningList, Self.seededTests]
                    try UserShell.with("help") { shell in try Self.run(example, shell) }
                }
            }
        }

        /// A seed, and a test program `MyTests` that ends once the device is locked.
        private static let seededTests = """
            mkdir -p fixtures/Documents && echo seed > fixtures/Documents/seed
            printf '#!/bin/sh\\ncd; until grep -qx locked .purgefs/device.state; do sleep 0.1; done\\n' > MyTests
            chmod +x MyTests
            """

        private static let cleaningList = """
            cat > PurgeableCache.plist <<'END'
            <plist><array><dict>
            <key>Class</key><string>Cache</string><key>Selectors</key><array><string>clear</string></array>
            </dict></array></plist>
            END
            """

        /// Returns the examples of each verb, from the pages as they are printed.
        private static func helpExamples() throws -> [(verb: String, commands: [String])] {
            func section(_ title: String, _ page: String) -> [String] {
                let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
                return lines.drop { !$0.hasPrefix(title) }.dropFirst().prefix { $0.hasPrefix("    ") }.map {
                    String($0.dropFirst(4))
                }
            }
            let verbs = try section("VERBS", PurgefsBinary.run("--help").succeeded()).map {
                String($0.prefix { $0 != " " })
            }
            #expect(verbs.count >= 9)
            return try verbs.map { ($0, section("EXAMPLE", try PurgefsBinary.run("help", $0).succeeded())) }
        }

        private static func run(_ example: DocumentedExample, _ shell: UserShell) throws {
            try prepare(example, shell)
            let mountpoint = example.place == .mounted ? "\(shell.directory)/app" : ""
            let meanwhile = try example.meanwhile.isEmpty ? nil : shell.start(bash(example.meanwhile))
            let words =
                example.language == "python"
                ? [Program.python, "-c", example.lines.joined(separator: "\n")] : bash(example.commands)
            defer { meanwhile?.signalGroup(SIGKILL) }
            let outcome = try shell.run(
                words, ["PURGEFS_MOUNT": mountpoint], isMerged: example.language == "console",
                timeout: example.isLong ? 600 : Scale.patience)
            #expect(outcome.status == 0, "\(example.description): \(outcome)")
            if example.language == "console" { compare(outcome.output, example, shell) }
            #expect(try meanwhile?.wait(within: Scale.patience) ?? 0 == 0)
            let checked = try shell.run(bash(example.checks), ["PURGEFS_MOUNT": mountpoint])
            #expect(checked.status == 0, "\(example.description): \(checked)")
        }

        private static func prepare(_ example: DocumentedExample, _ shell: UserShell) throws {
            let begin = ["mkdir app", "purgefs mount \(example.options) app.store app"]
            let script =
                switch example.place {
                case .empty: example.preparation
                case .mounted: begin + example.preparation
                case .store: begin + example.preparation + ["purgefs unmount app"]
                }
            try shell.run(bash(script)).succeeded()
        }

        /// Returns the command line of a script that ends at the first command that fails.
        private static func bash(_ lines: [String]) -> [String] {
            ["bash", "-e", "-o", "pipefail", "-c", lines.joined(separator: "\n")]
        }

        /// Compares output with the page. A line of three dots stands for the rest, and paths and identifiers may differ.
        private static func compare(_ output: String, _ example: DocumentedExample, _ shell: UserShell) {
            func plain(_ lines: [String]) -> [String] {
                lines.map {
                    $0.replacingOccurrences(of: shell.directory, with: "/srv")
                        .replacingOccurrences(
                            of: "[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", with: "ID", options: .regularExpression
                        )
                        .replacingOccurrences(of: ", requests by io_uring", with: "")
                }
            }
            var expected = plain(example.output)
            var shown = plain(
                output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init))
            if let dots = expected.firstIndex(of: "...") {
                expected = Array(expected[..<dots])
                shown = Array(shown.prefix(dots))
            }
            #expect(shown == expected, "\(example.description)")
        }

        @Test func commentsSayWhatAnExampleNeeds() {
            let page = """
                <!-- example: mounted --total 1M -o ro
                prepare: one
                check: two -->

                ```console
                $ purgefs status
                total
                ```
                <!-- not run: make -->
                Words between.
                ```sh
                true
                ```
                <!-- chekc: two -->
                ```sh
                ```
                <!-- example: mountd --total 1M -->
                ```sh
                ```
                <!-- run by: make long -->
                ```sh
                ```
                """
            let found = DocumentedExample.all(in: page, page: "p")
            #expect(found.map(\.line) == [5, 11, 15, 18, 21])
            #expect(found[0].place == .mounted && found[0].options == "--total 1M -o ro" && found[0].isRun)
            #expect(found[0].preparation == ["one"] && found[0].checks == ["two"])
            #expect(found[0].commands == ["purgefs status"] && found[0].output == ["total"])
            #expect(found[1].isRun && found[1].place == .empty && found[1].commands == ["true"])
            #expect(!found[2].isRun, "an unknown word is no reason to run it without what it needs")
            #expect(!found[3].isRun, "nor is an unknown place")
            #expect(found.map(\.isLong) == [false, false, false, false, true] && found[4].isRun)
        }

        /// Every block names its language, and a `text` block contains no command unless it shows the output of one.
        @Test func everyBlockHasALanguage() {
            for example in DocumentedExample.all {
                let languages = ["sh", "console", "python", "text"] + (example.quoted == nil ? [] : ["swift"])
                #expect(languages.contains(example.language), "\(example.description)")
                guard example.language == "text", example.source == nil else { continue }
                let isCommand = #/(\$|purgefs [a-z]+) .*/#
                #expect(!example.lines.contains { $0.wholeMatch(of: isCommand) != nil }, "\(example.description)")
            }
        }

        /// The number of examples that are not run is asserted, so that nobody adds one by accident.
        @Test func onlyWhatCannotBeRunIsNotRun() {
            let excuses = DocumentedExample.all.compactMap(\.excuse)
            #expect(
                Dictionary(grouping: excuses) { $0 }.mapValues(\.count)
                    == ["make": 4, "installs": 8, "changes the machine": 1, "the numbers are those of one moment": 2])
            #expect(Self.runnable.count >= 17 && Self.runnable.count(where: \.isLong) == 4)
        }

        /// A synopsis on a page equals the usage in the help that the comment above it names.
        @Test func synopses() throws {
            for example in DocumentedExample.all {
                guard let source = example.source else { continue }
                let help = try Program.run(
                    [PurgefsBinary.path] + source.split(separator: " ").dropFirst().map(String.init))
                let usage = try help.succeeded().components(separatedBy: "USAGE\n")[1].components(separatedBy: "\n\n")[
                    0]
                #expect(Self.usages(example.lines) == Self.usages(usage.components(separatedBy: "\n")))
            }
        }

        /// The picture in README is what the programs print now, except for times and processes.
        @Test func picture() throws {
            try Scratch.with("picture") { scratch in
                let root = DocumentedExample.root
                try Program.run(
                    [Program.python, "\(root)/mount-scripts/picture", "\(scratch.path)/now.svg"],
                    environment: ["PURGEFS": PurgefsBinary.path]
                ).succeeded()
                #expect(words(Files.text("\(scratch.path)/now.svg")) == words(Files.text("\(root)/docs/picture.svg")))
            }
        }

        /// Returns the text of a picture. Where a line breaks depends on the number of a process.
        private func words(_ picture: String) -> [Substring] {
            picture.replacing(/<[^>]*>/, with: " ").replacing(/\d{4}-\d\d-\d\d\s+at\s+\d\d:\d\d:\d\d/, with: "TIME")
                .replacing(/process\s+\d+/, with: "process N").split { $0.isWhitespace }
        }

        /// Code that a page quotes is in the file that the page names, and is therefore compiled and run.
        @Test func quotations() throws {
            let quoting = DocumentedExample.all.filter { $0.quoted != nil }
            #expect(!quoting.isEmpty)
            for example in quoting {
                let file = Files.text("\(DocumentedExample.root)/\(example.quoted ?? "")")
                let quotation = example.lines.joined(separator: "\n") + "\n"
                #expect(file.contains(quotation) && example.lines.count > 1, "\(example.description)")
                let braces = "{}".map { brace in quotation.count { $0 == brace } }
                #expect(braces.first == braces.last, "not whole: \(example.description)")
            }
        }

        /// docs/FIDELITY.md names the golden scenarios that run on mounts.
        @Test(arguments: ["documented": PurgeScenario.documented, "device": PurgeScenario.device])
        func scenariosOnMounts(profile: String, scenarios: [PurgeScenario]) throws {
            let page = String(decoding: try Files.content("\(DocumentedExample.root)/docs/FIDELITY.md"), as: UTF8.self)
            let list = try #require(page.components(separatedBy: "### Profile `\(profile)`\n\n").dropFirst().first)
            let names = list.components(separatedBy: "\n").prefix { $0.hasPrefix("- ") }
            #expect(Array(names) == scenarios.filter(\.isForMounts).map { "- \"\($0.name)\"" })
        }

        /// Returns the words after `purgefs` in each usage, as one line with single spaces.
        private static func usages(_ lines: [String]) -> [String] {
            lines.flatMap { $0.split(separator: " ") }.joined(separator: " ").components(separatedBy: "purgefs ")
                .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
    }
}
