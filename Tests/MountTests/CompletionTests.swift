import Foundation
import Support
import Testing

extension Mounts {
    /// Files that `purgefs generate` writes, loaded by the shells they are for.
    @Suite struct CompletionTests {
        private static let verbs = [
            "run", "sweep", "replay", "mount", "unmount", "list", "status", "set", "mark", "purge", "policy", "clean",
            "device",
            "clock",
            "app", "events", "diagnose", "report", "why", "backup", "check",
        ]

        /// Completions for `run --at`: the settings of `set`, and the control files that take commands.
        private static let changes = [
            "storage.total=", "storage.others=", "storage.others.purgeable=", "storage.others.share=",
            "storage.thresholds=", "storage.profile=", "storage.purge.latency=", "device.inactivity=", "journal.size=",
            "journal.age=", "device.state=", "device.clock=", "app.state=", "storage.policies=", "storage.reclaim=",
            "faults=",
        ]

        /// Passes `body` the completion file for `shell`, and a folder with a few names to complete.
        private func with<R>(_ shell: String, _ body: (_ file: String, _ folder: String) throws -> R) throws -> R {
            try Scratch.with("completion") { scratch in
                for name in ["store one", "zdir"] { try Files.makeDirectory("\(scratch.path)/\(name)") }
                try Files.write("", to: "\(scratch.path)/zfile")
                let file = "\(scratch.path)/_purgefs"
                let text = try Program.run(PurgefsBinary.path, "generate", shell).succeeded()
                try Files.write(text, to: file)
                return try body(file, scratch.path)
            }
        }

        /// Returns the options that a verb's help lists, and `--help`.
        private func options(_ verb: String) throws -> Set<String> {
            let help = try Program.run(PurgefsBinary.path, "help", verb).succeeded()
            let lines = help.split(separator: "\n").filter { $0.hasPrefix("    -") }
            return Set(
                lines.map { String($0.dropFirst(4).prefix { $0 == "-" || $0.isLetter || $0.isNumber }) } + ["--help"])
        }

        // MARK: bash

        /// Returns bash's completions of the last word of each command line.
        private func bash(_ lines: [[String]]) throws -> [[String]] {
            try with("bash") { file, folder in
                let calls = lines.map { words in
                    "ask " + words.map { "'\($0)'" }.joined(separator: " ")
                }
                let script = """
                    set -u
                    . '\(file)'
                    ask() {
                        COMP_WORDS=(purgefs "$@") COMP_CWORD=$#
                        _purgefs
                        printf '%s;' "${COMPREPLY[@]}"
                        echo
                    }
                    test "$(complete -p purgefs)" = 'complete -F _purgefs purgefs' || exit
                    \(calls.joined(separator: "\n"))
                    """
                let output = try Program.run(["bash", "--norc", "-c", script], in: folder).succeeded()
                return output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
                    $0.split(separator: ";").map(String.init)
                }
            }
        }

        @Test func bashOffersAllOptions() throws {
            let answers = try bash(Self.verbs.map { [$0, "-"] })
            for (verb, answer) in zip(Self.verbs, answers) { #expect(try Set(answer) == options(verb), "\(verb)") }
        }

        @Test func bashOffersWhatFits() throws {
            let expected: [([String], [String])] = [
                ([""], Self.verbs + ["help", "--help", "--version"]),
                (["un"], ["unmount"]),
                (["help", "ru"], ["run"]),
                (["mount", "--profile", ""], ["documented", "device"]),
                (["mount", "--profile", "=", "de"], ["device"]),
                (["mount", "--profile", "="], ["documented", "device"]),
                (["mount", "--total", ""], []),
                (["mount", "--total", "=", "1G", "z"], ["zdir"]),
                (["mount", "--total", "1G", "z"], ["zdir"]),
                (["mount", "--log", "z"], ["zdir", "zfile"]),
                (["mount", "st"], ["store one"]),
                (["umount", "--f"], ["--force"]),
                (["mark", "--purgeable", "=", "h"], ["high"]),
                (["mark", "--purgeable", "zf"], ["zfile"]),
                (["mark", "--", "--pu"], []),
                (["device", ""], ["lock", "unlock", "reboot", "state"]),
                (["device", "lock", "z"], ["zdir"]),
                (["set", "clock"], []),
                (["set", "storage.others.pu"], ["storage.others.purgeable="]),
                (["set", "storage.others", "=", "1"], []),
                (["set", "storage.others", "=", "1G", "thr"], []),
                (["set", "z"], ["zdir"]),
                (["run", "--chdir", "--", "readlin"], ["readlink"]),
                (["run", "--store", "z"], ["zdir"]),
                (["run", "cat", "z"], ["zdir", "zfile"]),
                (["run", "cat", "--t"], []),
                (["backup", "a"], ["audit"]),
                (["nonsense", ""], []),
                (["set", "storage.profile", "=", "de"], ["device"]),
            ]
            try compare(expected)
        }

        /// A comma-separated list in one word, and an option with two words.
        @Test func bashOffersPlans() throws {
            try compare([
                (["run", "--fail-on", "p"], ["purged", "protectionDenied"]),
                (["run", "--fail-on", "=", "refused,h"], ["refused,hostFull"]),
                (["run", "--at", ""], []),
                (["run", "--at", "2s", ""], Self.changes),
                (["run", "--at", "=", "2s", "device.c"], ["device.clock="]),
                (["run", "--at", "2s", "device.state", "="], ["lock", "unlock", "reboot"]),
                (["run", "--at", "2s", "device.state", "=", "u"], ["unlock"]),
                (["run", "--at", "2s", "device.state", "=", "lock", "--qui"], ["--quiet"]),
                (["run", "--at", "2s", "device.state", "=", "lock", "--at", "=", "3s", "app.s"], ["app.state="]),
                (["run", "--at", "2s", "storage.thresholds", "=", "low", ":", "5%", "--qui"], ["--quiet"]),
                (["run", "--at", "2s device.state=lock", "--qui"], ["--quiet"]),
                (["run", "--at", "2s", "device.state", "=", "lock", "readlin"], ["readlink"]),
                (["run", "--at", "2s", "device.state", "=", "lock", "--", "cat", "z"], ["zdir", "zfile"]),
            ])
        }

        private func compare(_ expected: [([String], [String])]) throws {
            let answers = try bash(expected.map(\.0))
            for ((words, expected), answer) in zip(expected, answers) {
                #expect(Set(answer) == Set(expected), "\(words)")
            }
        }

        // MARK: fish

        private func fish(_ line: String) throws -> [String] {
            try with("fish") { file, folder in
                let script = "source \(file); complete -C '\(line)'"
                let environment = ["HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_DATA_HOME": folder]
                let output = try Program.run(
                    ["fish", "--no-config", "-c", script], in: folder, environment: environment
                ).succeeded()
                return output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
            }
        }

        @Test(arguments: Self.verbs) func fishOffersAllOptions(verb: String) throws {
            let offered = try fish("purgefs \(verb) --").filter { !["--purgeable=", "--trace="].contains($0) }
            #expect(try Set(offered) == options(verb).subtracting(["-o"]))
        }

        @Test(
            arguments: [
                ("", Set(verbs + ["help", "--help", "--version"])), ("un", ["unmount"]), ("help ru", ["run"]),
                ("mount --profile ", ["documented", "device"]), ("mount --profile=de", ["--profile=device"]),
                ("mount --log z", ["zdir/", "zfile"]), ("mount z", ["zdir/"]),
                ("mark --purgeable=h", ["--purgeable=high"]),
                ("mark zf", ["zfile"]), ("device u", ["unlock"]), ("device lock z", ["zdir/"]),
                ("set storage.others.p", ["storage.others.purgeable="]), ("run --store z", ["zdir/"]),
                ("run --chdir -- readlin", ["readlink"]), ("run cat zf", ["zfile"]),
                ("run --total 1G readlin", ["readlink"]), ("run cat --total", []), ("run -o ro cat zf", ["zfile"]),
                ("set storage.prof", ["storage.profile=documented", "storage.profile=device"]),
                ("run --fail-on p", ["purged", "protectionDenied"]),
                ("run --fail-on=refused,h", ["--fail-on=refused,hostFull"]), ("run --at ", []),
                ("run --at 2s device.state=u", ["device.state=unlock"]), ("run --at=2s device.c", ["device.clock="]),
                ("run --at 2s storage.ot", Set(changes.filter { $0.hasPrefix("storage.ot") })),
                ("run --at 2s device.state=lock --qui", ["--quiet"]),
                ("run --at 2s device.state=lock readlin", ["readlink"]),
                ("run --at 2s device.state=lock --at=3s app.state=launch -- cat zf", ["zfile"]),
                ("run --at \"2s device.state=lock\" cat zf", ["zfile"]),
            ] as [(String, Set<String>)])
        func fishOffersWhatFits(line: String, expected: Set<String>) throws {
            #expect(try Set(fish("purgefs \(line)")) == expected)
        }

        // MARK: zsh

        /// Returns zsh's completions for several lines. zsh runs in a terminal of its own (Programs/zsh_completion.py).
        private func zsh(_ lines: [String]) throws -> [[String]] {
            try with("zsh") { file, folder in
                let program = "\(DocumentedExample.root)/Tests/MountTests/Programs/zsh_completion.py"
                let output = try Program.run([Program.python, program, file] + lines, in: folder).succeeded()
                return output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
                    $0.split(separator: ";").map(String.init)
                }
            }
        }

        @Test func zshOffersAllOptions() throws {
            let answers = try zsh(Self.verbs.map { "purgefs \($0) -" })
            #expect(answers.count == Self.verbs.count)
            for (verb, answer) in zip(Self.verbs, answers) { #expect(try Set(answer) == options(verb), "\(verb)") }
        }

        @Test func zshOffersWhatFits() throws {
            let expected: [(String, Set<String>)] = [
                ("", Set(Self.verbs + ["help", "--help", "--version"])), ("help u", ["unmount"]),
                ("umount --f", ["--force"]), ("mount --profile ", ["documented", "device"]),
                ("mount --log z", ["zdir", "zfile"]), ("mount z", ["zdir"]), ("mark --purgeable=h", ["high"]),
                ("mark zf", ["zfile"]), ("device ", ["lock", "unlock", "reboot", "state"]), ("device lock z", ["zdir"]),
                ("set storage.others.p", ["storage.others.purgeable="]), ("set z", ["zdir"]),
                ("run --store z", ["zdir"]), ("run --chdir readlin", ["readlink"]), ("run -- cat zf", ["zfile"]),
                ("set storage.prof", ["storage.profile=documented", "storage.profile=device"]),
                ("run --fail-on p", ["purged", "protectionDenied"]), ("run --fail-on=refused,h", ["hostFull"]),
                ("run --at 2s device.state=u", ["device.state=unlock"]), ("run --at=2s device.c", ["device.clock="]),
                ("run --at 2s storage.ot", Set(Self.changes.filter { $0.hasPrefix("storage.ot") })),
                ("run --at 2s device.state=lock --qui", ["--quiet"]),
                ("run --at 2s device.state=lock readlin", ["readlink"]),
                ("run --at 2s device.state=lock --at 3s app.state=launch -- cat zf", ["zfile"]),
                ("run --at '2s device.state=lock' --qui", ["--quiet"]),
                ("run --at='2s device.state=lock' readlin", ["readlink"]),
                ("run --at \"2s device.state=lock\" --at 3s app.state=u", ["app.state=update"]),
                ("run --at 2s\\ device.state=lock cat zf", ["zfile"]),
            ]
            let answers = try zsh(expected.map { "purgefs \($0.0)" })
            #expect(answers.count == expected.count)
            for ((line, expected), answer) in zip(expected, answers) { #expect(Set(answer) == expected, "\(line)") }
        }

        // MARK: The manual page

        @Test func manualPageIsWellFormed() throws {
            try with("man") { file, _ in
                let lint = try Program.run("mandoc", "-T", "lint", "-W", "warning", file)
                // The page has no date, because a date would change with each build.
                let warnings = lint.output.split(separator: "\n").filter { !$0.contains("missing date, using") }
                #expect(warnings == [] && lint.errors == "")
                let shown = try Program.run("mandoc", "-T", "ascii", file).succeeded()
                let text = shown.replacing(/.\u{8}/, with: "")
                #expect(text.contains("purgefs run [options] [--] COMMAND [ARG...]"))
                #expect(text.contains("purgefs mark --purgeable=high ./app/Documents/album"))
            }
        }
    }
}
