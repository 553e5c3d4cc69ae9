import Foundation
import Glibc
import Support
import Testing

extension Mounts {
    /// The verdict at the beginning of the summary of `run`, and annotations of GitHub Actions.
    @Suite struct RunVerdictTests {
        struct Case: Sendable {
            let script: String
            var options: [String] = []
            let word: String
            let status: Int32
            let text: String
        }
        private static let cases = [
            Case(
                script: ":", word: "passed", status: 0,
                text: "COMMAND ended with 0; purged 0 files, 0 writes refused; used "),
            Case(script: "exit 3", word: "failed", status: 3, text: "COMMAND ended with 3; purged 0 files"),
            Case(script: "kill -9 $$", word: "failed", status: 137, text: "COMMAND was killed by signal 9; purged "),
            Case(
                script: refusal, options: ["--fail-on", "refused"], word: "failOn", status: 123,
                text: "COMMAND ended with 0, but there were events of --fail-on; purged 0 files, 1 write refused; used "
            ),
            Case(
                script: refusal + "; exit 4", options: ["--fail-on", "refused"], word: "failed", status: 4,
                text: "COMMAND ended with 4; purged 0 files, 1 write refused; used "),
            // The check finds the device well again, and decides the status.
            Case(
                script: "echo a > ~/Documents/a; exit 4",
                options: ["--fault", "write=full", "--check", "test ! -s ~/Documents/a && echo b > ~/Documents/b"],
                word: "passed", status: 0, text: "COMMAND ended with 4, and the check ended with 0; purged 0 files"),
            Case(
                script: ":", options: ["--check", "exit 5"], word: "checkFailed", status: 5,
                text: "COMMAND ended with 0, and the check ended with 5; purged 0 files"),
        ]
        private static let refusal = "head -c 2M /dev/zero 2>/dev/null >~/Documents/large || :"

        private func run(
            _ words: [String], in scratch: Scratch, environment: [String: String] = [:]
        ) throws -> Outcome {
            try Program.run(
                [PurgefsBinary.path, "run", "--total", "1M"] + words, in: scratch.path, environment: environment)
        }

        @Test(arguments: cases) func verdict(expected: Case) throws {
            try Scratch.with("verdict") { scratch in
                let summary = ["--summary", "summary.json"]
                let outcome = try run(expected.options + summary + ["--", "sh", "-c", expected.script], in: scratch)
                #expect(outcome.status == expected.status, "\(outcome)")
                #expect(outcome.errors.contains("purgefs: \(expected.text)"), "\(outcome)")
                let file = Files.text("\(scratch.path)/summary.json")
                #expect(file.contains("\"verdict\": \"\(expected.word)\""), "\(file)")
            }
        }

        @Test func notStarted() throws {
            try Scratch.with("verdict") { scratch in
                let outcome = try run(["--summary", "summary.json", "--", "./nothing"], in: scratch)
                #expect(outcome.status == 127)
                #expect(Files.text("\(scratch.path)/summary.json").contains("\"verdict\": \"notStarted\""))
            }
        }

        /// Percent signs are escaped; in the title, so are colons and commas.
        @Test func annotations() throws {
            try Scratch.with("verdict") { scratch in
                try Program.run("cp", "/bin/sh", "\(scratch.path)/a%b:c,d").succeeded()
                let actions = ["GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "\(scratch.path)/step.md"]
                let words = ["--fail-on", "refused:Documents/*", "--", "./a%b:c,d", "-c", Self.refusal]
                let said = try run(words, in: scratch, environment: actions).errors
                #expect(
                    said.contains(
                        "\n::error title=purgefs run ./a%25b%3Ac%2Cd::COMMAND ended with 0, but there were events of --fail-on; "
                    ),
                    "\(said)")
                #expect(
                    said.contains(
                        "\n::error title=purgefs --fail-on::refused:Documents/*: 1 event, the first of Documents/large\n"
                    ),
                    "\(said)")
                let page = Files.text("\(scratch.path)/step.md")
                #expect(page.hasPrefix("### purgefs run ./a%b&#58;c,d\n\nCOMMAND ended with 0, but "), "\(page)")
                #expect(page.contains("| refused | 1 write |\n"), "\(page)")
                // The next run of the same step is added below.
                let next = try run(["--", "sh", "-c", Self.refusal], in: scratch, environment: actions).errors
                #expect(
                    next.contains(
                        "::notice title=purgefs run sh::COMMAND ended with 0; purged 0 files, 1 write refused"))
                let both = Files.text("\(scratch.path)/step.md")
                #expect(both.hasPrefix(page) && both.contains("### purgefs run sh\n"))
            }
        }

        /// A failure of purgefs itself is annotated too, and a file that cannot be appended to is only a warning.
        @Test func failuresOfPurgefs() throws {
            try Scratch.with("verdict") { scratch in
                let report = "\(scratch.path)/gone/report.html"
                try Files.makeDirectory("\(scratch.path)/gone")
                let removal = ["sh", "-c", "rm -r '\(scratch.path)/gone'"]
                let outcome = try run(
                    ["--annotate", "github", "--quiet", "--report", report, "--"] + removal, in: scratch,
                    environment: ["GITHUB_STEP_SUMMARY": "\(scratch.path)/step.md"])
                #expect(
                    outcome.status == 125 && outcome.errors.contains("::error title=purgefs run::cannot write "),
                    "\(outcome)")
                let page = Files.text("\(scratch.path)/step.md")
                #expect(page.contains("\n| failed | cannot write the report"), "\(page)")
                #expect(page.contains("\n| storage | used 0 B, "), "\(page)")
                let unfinished = try run(
                    ["--annotate", "github", "--quiet", "--", "sh", "-c", "printf abc >&2; exit 1"], in: scratch)
                #expect(unfinished.errors.hasPrefix("abc\n::error title="), "\(unfinished)")
                let never = try run(["--", "./nothing"], in: scratch, environment: ["GITHUB_ACTIONS": "true"])
                #expect(
                    never.status == 127
                        && never.errors.contains("::error title=purgefs run ./nothing::COMMAND was not started; "))
            }
        }

        /// The file is only appended to, so it may be a link, or in a folder that the user cannot write.
        @Test func linkedStepSummary() throws {
            try Scratch.with("verdict") { scratch in
                try Files.write("before\n", to: "\(scratch.path)/real.md")
                try Program.run("ln", "-s", "real.md", "\(scratch.path)/step.md").succeeded()
                let environment = ["GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "\(scratch.path)/step.md"]
                try run(["--", "true"], in: scratch, environment: environment).succeeded()
                #expect(Files.text("\(scratch.path)/real.md").hasPrefix("before\n### purgefs run true\n"))
            }
        }

        /// A FIFO without a reader does not block the end of the run.
        @Test(arguments: ["fifo", "folder", "missing/file", "store/inside"]) func stepSummaries(name: String) throws {
            try Scratch.with("verdict") { scratch in
                try #require(mkfifo("\(scratch.path)/fifo", 0o600) == 0)
                try Files.makeDirectory("\(scratch.path)/folder")
                let outcome = try run(
                    ["--store", "store", "--", "true"], in: scratch,
                    environment: ["GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "\(scratch.path)/\(name)"])
                #expect(outcome.status == 0, "\(outcome)")
                #expect(
                    outcome.errors.contains("purgefs: warning: cannot write the summary of the step: "), "\(outcome)")
                #expect(!Files.exists("\(scratch.path)/store/inside"))
            }
        }

        /// Names of files form no Markdown.
        @Test func hostileNames() throws {
            try Scratch.with("verdict") { scratch in
                let script = "head -c 2M /dev/zero 2>/dev/null >~/Documents/'a|*b*<i>\\|' || :"
                _ = try run(
                    ["--annotate=github", "--fail-on", "refused", "--", "sh", "-c", script], in: scratch,
                    environment: ["GITHUB_STEP_SUMMARY": "\(scratch.path)/step.md"])
                let page = Files.text("\(scratch.path)/step.md")
                let name = "a&#124;&#42;b&#42;&#60;i&#62;&#92;&#124;"
                #expect(page.contains("the first of Documents/\(name) |\n"), "\(page)")
            }
        }

        /// A run without losses is not worth an annotation, and --quiet and --annotate are obeyed.
        @Test(
            arguments: [
                (["--", "true"], true, false), (["--quiet", "--", "false"], true, false),
                (["--annotate", "off", "--", "false"], true, false), (["--", "false"], false, false),
                (["--annotate=github", "--quiet", "--", "false"], false, true), (["--", "false"], true, true),
            ] as [([String], Bool, Bool)])
        func whenToAnnotate(words: [String], inActions: Bool, isAnnotated: Bool) throws {
            try Scratch.with("verdict") { scratch in
                let environment = inActions ? ["GITHUB_ACTIONS": "true"] : [:]
                let said = try run(words, in: scratch, environment: environment).errors
                #expect(said.contains("::error") == isAnnotated && said.contains("::notice") == false, "\(said)")
            }
        }
    }
}
