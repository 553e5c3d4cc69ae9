import Foundation
import Glibc
import Support
import Testing

extension Mounts {
    /// `purgefs sweep` on real programs (docs/SWEEP.md).
    @Suite struct SweepTests {
        private static let program = "\(DocumentedExample.root)/Tests/MountTests/Programs/save_routines.py"

        /// Each routine has a seed of its own.
        private func sweep(_ routine: String, _ options: [String] = [], in place: String) throws -> Outcome {
            let seed = "\(place)/seed"
            if !Files.exists(seed) {
                try FileManager.default.createDirectory(
                    atPath: "\(seed)/Documents", withIntermediateDirectories: true)
                try Files.write("4100000041", to: "\(seed)/Documents/number")
            }
            return try Program.run(
                [PurgefsBinary.path, "sweep", "--seed", seed] + options + [
                    "--protection", "complete", "--check", "\(Program.python) -S \(Self.program) check", "--",
                    Program.python, "-S", Self.program, routine,
                ], environment: ["TMPDIR": place])
        }

        private static func names() throws -> [(kind: Substring, name: Substring)] {
            try Program.run(Program.python, program, "names").succeeded().split(separator: "\n").map {
                let words = $0.split(separator: " ")
                return (words[0], words[1])
            }
        }

        /// Every wrong routine is found, and no right one is blamed. In CI, a few of them.
        @Test func plantedFaults() throws {
            let all = try Self.names()
            #expect(all.count { $0.kind == "wrong" } == 20 && all.count { $0.kind == "right" } == 20)
            let few: Set<Substring> = [
                "rename", "temporary", "truncate", "short_write", "unreadable_is_missing", "synchronous", "nameless",
                "folder_not_synced", "sync_retried", "cache_folder_made_once",
            ]
            for (kind, name) in all where Scale.factor >= 1 || few.contains(name) {
                // Only this profile purges whole folders, and only in the background.
                let options = name.hasPrefix("cache") ? ["--profile", "device", "--state", "background"] : []
                try Scratch.with("sweep") { scratch in
                    let outcome = try sweep("\(kind)_\(name)", options, in: scratch.path)
                    #expect(outcome.status == (kind == "wrong" ? 1 : 0), "\(kind) \(name): \(outcome)")
                    #expect(try Files.names(in: scratch.path) == ["seed"], "\(kind) \(name)")
                    if kind == "wrong", name == "temporary" {
                        #expect(outcome.output.contains("; purge tmp/number temporary < command\n"), "\(outcome)")
                    }
                }
            }
        }

        /// The line of a failure repeats it.
        @Test func theLineThatRepeats() throws {
            try Scratch.with("sweep") { scratch in
                let outcome = try sweep("wrong_truncate", ["--moments", "full"], in: scratch.path)
                let line = try #require(outcome.output.split(separator: "\n").first { $0.contains("purgefs run ") })
                let words = line.trimmingCharacters(in: .whitespaces).dropFirst("purgefs".count)
                let again = try Program.run(
                    ["sh", "-c", "\(PurgefsBinary.path)\(words)"], environment: ["TMPDIR": scratch.path])
                #expect(again.status == 1 && again.errors.contains("is neither number"), "\(again)")
            }
        }

        /// Words and names of COMMAND with a sign before a combining mark, which would make one character of both.
        @Test func combiningMarks() throws {
            try Scratch.with("sweep") { scratch in
                let word = "'\u{301}; touch '\(scratch.path)/made'; '\u{301}"
                let junit = "\(scratch.path)/junit.xml"
                let outcome = try Program.run(
                    [
                        PurgefsBinary.path, "sweep", "--moments", "error", "--junit", junit, "--", "sh", "-c",
                        "cat ~/tmp/* 2>&1 || echo > ~/tmp/\"$1\"", "sh", "<\u{301}&\u{338}\"\u{301}", word,
                    ], environment: ["TMPDIR": scratch.path])
                #expect(outcome.status == 0 && outcome.errors.contains("faults tried"), "\(outcome)")
                #expect(!Files.exists("\(scratch.path)/made"))
                try Program.run(
                    Program.python, "-c", "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])", junit
                ).succeeded()
                let full = try Program.run(
                    "sh", "-c",
                    "\(PurgefsBinary.path) sweep --json --moments error --check true -- sh -c 'mkdir ~/tmp/a' > /dev/full"
                )
                #expect(full.status == 125 && full.errors.contains("standard output"), "\(full)")
            }
        }

        /// JSON and JUnit have each trial, and agree with the status.
        @Test func forPrograms() throws {
            struct Results: Decodable {
                struct Trial: Decodable {
                    var call, path, rule, outcome: String
                    var command: String?
                }
                var calls, tried, held, failed, notReached: Int
                var trials: [Trial]
            }
            try Scratch.with("sweep") { scratch in
                let outcome = try sweep(
                    "wrong_truncate", ["--json", "--junit", "\(scratch.path)/junit.xml", "--moments", "error,full"],
                    in: scratch.path)
                #expect(outcome.status == 1, "\(outcome)")
                let results = try JSONDecoder().decode(Results.self, from: Data(outcome.output.utf8))
                // open with O_TRUNC, write, fsync: an error at each, and a full device at the write.
                #expect(results.calls == 3 && results.tried == 4 && results.failed == 2 && results.held == 2)
                #expect(results.trials.map(\.rule) == ["open#1=EIO", "write#1=EIO", "sync#1=EIO", "write#1=full"])
                #expect(results.trials.allSatisfy { $0.path == "Documents/number" })
                #expect(results.trials.map { $0.command != nil } == [false, true, false, true])
                let junit = Files.text("\(scratch.path)/junit.xml")
                #expect(junit.contains("tests=\"4\" failures=\"2\" errors=\"0\" skipped=\"0\""), "\(junit)")
            }
        }

        /// Programs that do not end at a fault, and their descendants.
        @Test func afterTheTimeLimit() throws {
            try Scratch.with("sweep") { scratch in
                func sweep(_ words: String...) throws -> Outcome {
                    try Program.run([PurgefsBinary.path, "sweep"] + words, environment: ["TMPDIR": scratch.path])
                }
                let hanging = try sweep(
                    "--check", "true", "--moments", "error", "--time-limit", "2s", "--", "sh", "-c",
                    "mkdir ~/tmp/a || sleep 100")
                #expect(hanging.status == 1 && hanging.output.contains("did not end in time"), "\(hanging)")
                let stubborn = try sweep(
                    "--check", "true", "--moments", "error", "--time-limit", "1s", "--", "sh", "-c",
                    "mkdir ~/tmp/a || exec setsid sh -c 'trap : TERM; while :; do sleep 1; done'")
                #expect(stubborn.status == 1 && stubborn.output.contains("did not end in time"), "\(stubborn)")
                // The shell ends at SIGTERM, and then its child, after which the shell would go on.
                let number = "777\(getpid())"
                let left = try sweep(
                    "--check", "true", "--moments", "error", "--time-limit", "1s", "--", "sh", "-c",
                    "mkdir ~/tmp/a || { sleep \(number); sleep \(number); }")
                #expect(left.status == 1 && left.output.contains("did not end in time"), "\(left)")
                #expect(try Program.run("pgrep", "-f", "^sleep \(number)$").status == 1)
                // A child that ignores SIGTERM outlives its shell.
                let deaf = try sweep(
                    "--moments", "error", "--time-limit", "1s", "--", "sh", "-c",
                    "mkdir -p ~/tmp/a || { (trap '' TERM; exec sleep \(number)) & sleep 99; }")
                #expect(deaf.status == 1 && deaf.output.contains("did not end in time"), "\(deaf)")
                #expect(try Program.run("pgrep", "-f", "^sleep \(number)$").status == 1)
                // Children that begin while their parent is ended, and one whose parent has ended long before.
                let forking = try sweep(
                    "--check", "true", "--moments", "error", "--time-limit", "1s", "--", "sh", "-c",
                    "mkdir ~/tmp/a || { (setsid sleep \(number) &); while :; do sleep \(number) & sleep 0.002; done; }")
                #expect(forking.status == 1 && forking.output.contains("did not end in time"), "\(forking)")
                #expect(try Program.run("pgrep", "-f", "^sleep \(number)$").status == 1)
            }
        }

        /// A program that fails by itself, wrong numbers, and a signal.
        @Test func whatCannotBeSwept() throws {
            try Scratch.with("sweep") { scratch in
                func sweep(_ words: String...) throws -> Outcome {
                    try Program.run([PurgefsBinary.path, "sweep"] + words, environment: ["TMPDIR": scratch.path])
                }
                let failing = try sweep("--", "sh", "-c", "echo no use; exit 3")
                #expect(failing.status == 125 && failing.errors.contains("without any fault: no use"), "\(failing)")
                let idle = try sweep("--check", "true", "--", "true")
                #expect(idle.status == 125 && idle.errors.contains("COMMAND calls nothing"), "\(idle)")
                for number in ["0", "-1", "x"] {
                    #expect(try sweep("--most", number, "--", "true").status == 64)
                }
                #expect(try sweep("--moments", "powr", "--", "true").status == 64)
                #expect(try sweep("--junit", "/nonexistent/x", "--", "true").status == 125)
                let child = try Program.start(
                    [PurgefsBinary.path, "sweep", "--", "sh", "-c", "touch ~/tmp/a; sleep 100"],
                    environment: ["TMPDIR": scratch.path])
                try eventually("COMMAND runs") {
                    try Files.names(in: scratch.path).contains { $0.hasPrefix("purgefs-run.") }
                }
                usleep(300_000)
                kill(child.pid, SIGTERM)
                #expect(try child.wait(within: Scale.patience) == 128 + SIGTERM)
                try eventually("nothing is left") { try Files.names(in: scratch.path).isEmpty }
            }
        }

        /// A loss of power beside other faults: each kind of call, the status of COMMAND at the end, and the calls that COMMAND
        /// makes when it is not recorded.
        @Test func powerBesideOthers() throws {
            try Scratch.with("sweep") { scratch in
                func rules(_ words: String...) throws -> (status: Int32, rules: [Substring], errors: String) {
                    let outcome = try Program.run(
                        [PurgefsBinary.path, "sweep", "--json"] + words, environment: ["TMPDIR": scratch.path])
                    let lines = outcome.output.split(separator: "\n").filter { $0.contains("\"rule\"") }
                    return (outcome.status, lines.map { $0.split(separator: "\"")[3] }, outcome.errors)
                }
                try Files.makeDirectory("\(scratch.path)/seed")
                try Files.write(String(repeating: "x", count: 300_000), to: "\(scratch.path)/seed/large")
                let copied = try rules(
                    "--seed", "\(scratch.path)/seed", "--moments", "error,power", "--check", "true", "--", "sh", "-c",
                    "cp ~/large ~/Documents/copy")
                #expect(copied.status == 0 && !copied.errors.contains("not reached"), "\(copied)")
                let failed = try rules(
                    "--moments", "power", "--check", "test \"$PURGEFS_COMMAND_STATUS\" != 0", "--", "sh", "-c",
                    "echo > ~/Documents/a; exit 3")
                #expect(failed.status == 0, "\(failed)")
                let few = try rules(
                    "--moments", "power", "--most", "9", "--check", "true", "--", Program.python, "-S", "-c",
                    """
                    import os
                    os.chdir(os.environ["HOME"] + "/Documents")
                    file = os.open("a", os.O_CREAT | os.O_WRONLY)
                    for _ in range(100): os.write(file, b"x")
                    os.rename("a", "b")
                    """)
                #expect(few.rules.contains { $0.hasPrefix("rename#1=power") }, "\(few)")
            }
        }

        /// The map has a square for each trial, and no text of the program becomes markup.
        @Test func page() throws {
            try Scratch.with("sweep") { scratch in
                let page = "\(scratch.path)/map.html"
                let outcome = try Program.run(
                    [
                        PurgefsBinary.path, "sweep", "--report", page, "--moments", "error,full", "--check",
                        "test -s ~/tmp/'<b>&'", "--", "sh", "-c", "echo > ~/tmp/'<b>&'; mkdir ~/tmp/c; true",
                    ], environment: ["TMPDIR": scratch.path])
                // An error at the creation, at the write and at mkdir, and a full device at the write.
                let summary = "4 faults tried: 1 held, 3 failed"
                #expect(outcome.status == 1 && outcome.errors.contains(summary), "\(outcome)")
                let text = Files.text(page)
                func count(_ part: String) -> Int { text.components(separatedBy: part).count - 1 }
                // One more of each is in the legend.
                #expect(count("class=\"trial failed\"") == 4 && count("class=\"trial held\"") == 2)
                #expect(text.contains("title=\"mkdir#1=EIO: held\"") && text.contains("--fault &#39;write#1=full&#39;"))
                #expect(count("<b>") == 0 && text.contains("tmp/&lt;b&gt;&amp;"))
                let folder = try Program.run([PurgefsBinary.path, "sweep", "--report", scratch.path, "--", "true"])
                #expect(folder.status == 125 && folder.errors.contains("it is a directory"), "\(folder)")
            }
        }

        /// If the sweep is killed, its runs end, and the next run removes its folder.
        @Test func killed() throws {
            try Scratch.with("marks") { marks in
                try Scratch.with("sweep") { scratch in
                    let child = try Program.start(
                        [
                            PurgefsBinary.path, "sweep", "--jobs", "3", "--check", "true", "--", "sh", "-c",
                            "touch ~/tmp/a || { touch '\(marks.path)'/$$; exec sleep 100; }",
                        ], environment: ["TMPDIR": scratch.path])
                    func left() throws -> Int {
                        try Files.names(in: scratch.path).count { $0.hasPrefix("purgefs-run.") }
                    }
                    try eventually("two runs wait") { try Files.names(in: marks.path).count >= 2 }
                    child.signal(SIGKILL)
                    _ = try child.wait(within: Scale.patience)
                    try eventually("the runs have ended") { try left() == 1 }
                    #expect(MountTable.entries().filter { $0.mountpoint.hasPrefix(scratch.path) }.isEmpty)
                    // A younger folder may belong to a run that has just begun.
                    let folder = try #require(try Files.names(in: scratch.path).first)
                    try Program.run("touch", "-d", "1 minute ago", "\(scratch.path)/\(folder)").succeeded()
                    try Program.run(
                        [PurgefsBinary.path, "run", "--quiet", "--", "true"], environment: ["TMPDIR": scratch.path]
                    ).succeeded()
                    #expect(try Files.names(in: scratch.path) == [])
                }
            }
        }

        /// What the check syncs does not count as synced by COMMAND.
        @Test func aCheckThatSyncs() throws {
            try Scratch.with("sweep") { scratch in
                let check =
                    "test \"$PURGEFS_COMMAND_STATUS\" != 0 || test -s ~/Documents/a; found=$?; "
                    + "sync ~/Documents/a ~/Documents; exit $found"
                let outcome = try Program.run(
                    [
                        PurgefsBinary.path, "sweep", "--moments", "power", "--check", check, "--", "sh", "-c",
                        "echo x > ~/Documents/a",
                    ], environment: ["TMPDIR": scratch.path])
                #expect(outcome.status == 1 && outcome.output.contains("(after the last call)"), "\(outcome)")
            }
        }

        /// `--most` takes part of the trials, from the whole course of the program.
        @Test func most() throws {
            try Scratch.with("sweep") { scratch in
                let outcome = try Program.run(
                    [
                        PurgefsBinary.path, "sweep", "--json", "--most", "5", "--moments", "error", "--check", "true",
                        "--",
                        "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do mkdir ~/tmp/$i; done; true",
                    ], environment: ["TMPDIR": scratch.path])
                let rules = outcome.output.split(separator: "\n").filter { $0.contains("\"rule\"") }.map {
                    $0.split(separator: "\"")[3]
                }
                #expect(rules == ["mkdir#1=EIO", "mkdir#3=EIO", "mkdir#5=EIO", "mkdir#7=EIO", "mkdir#9=EIO"])
            }
        }
    }
}
