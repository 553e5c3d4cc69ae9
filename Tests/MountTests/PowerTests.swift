import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Records of calls, their repetition, and losses of power (docs/POWER.md).
    @Suite struct PowerTests {
        private static let program = "\(DocumentedExample.root)/Tests/MountTests/Programs/many_calls.py"

        private func run(_ words: [String], in place: String) throws -> Outcome {
            try Program.run([PurgefsBinary.path, "run", "--quiet"] + words, environment: ["TMPDIR": place])
        }

        private func listing(of store: String) throws -> String {
            try Program.run("sh", "-c", "cd '\(store)/container'; find . -printf '%P %y %m %n %s %l\\n' | sort")
                .succeeded()
        }

        /// A record that is replayed leaves the same names, content, attributes and links, with any of the calls that a record
        /// has.
        @Test func replayed() throws {
            try Scratch.with("power") { scratch in
                let (first, second) = ("\(scratch.path)/first", "\(scratch.path)/second")
                let record = "\(scratch.path)/record"
                try run(
                    ["--store", first, "--record", record, "--data", "--", Program.python, "-S", Self.program],
                    in: scratch.path
                ).succeeded()
                let replay = try run(
                    ["--store", second, "--", "sh", "-c", "exec \(PurgefsBinary.path) replay \(record) ~"],
                    in: scratch.path)
                #expect(replay.status == 0 && replay.output == "", "\(replay)")
                #expect(try listing(of: second) == listing(of: first))
                let content = "cd '%/container'; find . -type f | sort | xargs md5sum; getfattr -R -d . | sort"
                let contents = try [first, second].map {
                    try Program.run("sh", "-c", content.replacing("%", with: $0)).succeeded()
                }
                #expect(contents[0] == contents[1] && contents[0].contains("user.colour"))
                // On a smaller device, the outcome of some calls is another one.
                let small = try run(
                    ["--total", "1M", "--", "sh", "-c", "exec \(PurgefsBinary.path) replay \(record) ~"],
                    in: scratch.path)
                #expect(small.status == 1 && small.output.contains("write Documents/large: "), "\(small)")
                #expect(small.output.contains(" bytes in the record, ENOSPC now"), "\(small)")
            }
        }

        /// The state after a loss of power, in the container of the run, and the status that the check sees.
        @Test(arguments: [
            ("rename#1=power", "old", "137"), ("rename#2=power=none", "old", "0"), ("rename#2=power=torn", "", "0"),
            ("rename#2=power=ordered", "new", "0"), ("write@*new#1=power=ordered", "old", "137"),
        ]) func inARun(rule: String, expected: String, status: String) throws {
            try Scratch.with("power") { scratch in
                let store = "\(scratch.path)/store"
                try run(["--store", store, "--", "sh", "-c", "printf old > ~/Documents/a"], in: scratch.path)
                    .succeeded()
                let outcome = try run(
                    [
                        "--store", store, "--fault", rule, "--check", "echo $PURGEFS_COMMAND_STATUS; cat ~/Documents/a",
                        "--", "sh", "-c", "printf new > ~/Documents/new; mv ~/Documents/new ~/Documents/a",
                    ], in: scratch.path)
                #expect(outcome.status == 0 && outcome.output == "\(status)\n\(expected)", "\(outcome)")
                #expect(Files.text("\(store)/container/Documents/a") == expected)
                #expect(try Files.names(in: scratch.path) == ["store"])
            }
        }

        /// Wrong rules and wrong records get a message, and nothing is changed.
        @Test func whatIsRefused() throws {
            try Scratch.with("power") { scratch in
                func replay(_ record: String, _ options: String...) throws -> Outcome {
                    try Files.write(record, to: "\(scratch.path)/r")
                    return try Program.run(
                        [PurgefsBinary.path, "replay"] + options + ["\(scratch.path)/r", scratch.path])
                }
                for rule in ["write=power=", "write=power=x", "write=power=torn:", "write=power=torn:-1", "=power"] {
                    #expect(try run(["--fault", rule, "--", "true"], in: scratch.path).status == 64, "\(rule)")
                }
                let twice = try run(
                    ["--fault", "write=power", "--fault", "open=power", "--", "true"], in: scratch.path)
                #expect(twice.status == 64 && twice.errors.contains("only once"), "\(twice)")
                let late = try run(["--at", "1s fault=write=power", "--", "true"], in: scratch.path)
                #expect(late.status == 64 && late.errors.contains("needs a run that begins with it"), "\(late)")
                try withMount { mount in
                    _ = #expect(throws: Errno.invalid) { try mount.write("write=power", to: "faults") }
                }
                #expect(try replay("no record").errors.contains("line 1 is not a recorded call"))
                #expect(try replay("{\"call\":\"fly\",\"path\":\"a\"}").status == 1)
                #expect(try replay("", "--before", "write#1").status == 64)
                #expect(try replay("", "--power-seed", "1").status == 64)
                #expect(try replay("").status == 0)
                // A path that leads out of the target is made nowhere.
                let outside = try replay("{\"call\":\"mkdir\",\"path\":\"../../../../\(scratch.path)x\",\"mode\":493}")
                #expect(outside.status == 1 && outside.output.contains("EXDEV now"), "\(outside)")
                #expect(!Files.exists("\(scratch.path)x"))
                let link = "{\"call\":\"symlink\",\"path\":\"l\",\"text\":\"/var/tmp\"}\n"
                let through = try replay(link + "{\"call\":\"mkdir\",\"path\":\"l/purgefs-outside\",\"mode\":493}")
                #expect(through.status == 1 && through.output.contains("ELOOP now"), "\(through)")
                #expect(!Files.exists("/var/tmp/purgefs-outside"))
            }
        }
    }
}
