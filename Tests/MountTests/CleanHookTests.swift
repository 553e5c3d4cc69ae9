import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// The commands that `purgefs clean` runs for `--hook`.
    @Suite struct CleanHookTests {
        @Test(arguments: [true, false]) func hooks(mounted: Bool) throws {
            try CleanTests.withContainer(mounted: mounted) { mount, target in
                let list = try CleanTests.list(
                    [
                        ["Class": "A", "Selectors": ["ok", "fails", "dies", "hangs", "none"]],
                        ["Class": "B", "Selectors": ["uses"]], ["Path": "tmp/t"],
                    ], for: mount)
                let pids = "\(mount.scratch)/pids"
                let outcome = try PurgefsBinary.run(
                    "clean", target, "--plist", list, "--json", "--hook-timeout", "5s", "--hook",
                    "A.ok=echo to output; echo to errors >&2; read x; test $? = 1", "--hook", "A.fails=exit 3",
                    "--hook",
                    "A.dies=kill -9 $$", "--hook",
                    // Starts two processes that never end by themselves, and that inherit the ignored SIGTERM.
                    "A.hangs=trap '' TERM; sleep 1000 & echo $! >> \(pids); sh -c 'echo $$ >> \(pids); sleep 1000'",
                    "--hook",
                    "B=\(PurgefsBinary.path) status \(target) --json >/dev/null && rm \"$HOME/Documents/feed/kept\"")
                #expect(outcome.status == 1)
                let lines = try CleanTests.lines(outcome).filter { $0.task != nil }
                #expect(
                    lines.map { $0.hook ?? $0.path } == [
                        "A.ok", "A.fails", "A.dies", "A.hangs", "A.none", "B.uses", "tmp/t",
                    ])
                #expect(lines[0].failed == nil && lines[5].failed == nil && lines[6].failed == nil, "\(outcome)")
                #expect(lines[1].reason == "its command ended with status 3")
                #expect(lines[2].reason == "signal 9 ended its command")
                #expect(lines[3].reason == "its command did not end in time (5s), and was killed")
                #expect(lines[4].reason == "no --hook names a command for it")
                #expect(outcome.errors.contains("to output\n") && outcome.errors.contains("to errors\n"))
                #expect(outcome.errors.contains("--hook A.none=COMMAND"))
                let killed = Files.text(pids).split(separator: "\n").compactMap { pid_t($0) }
                #expect(killed.count == 2)
                try eventually("the end of all that hung") { killed.allSatisfy { kill($0, 0) != 0 } }
                #expect(try Set(CleanTests.files(mount)).isDisjoint(with: ["Documents/feed/kept", "tmp/t"]))
                let end = try #require(try CleanTests.lines(outcome).last)
                #expect(end.failed == .count(4) && end.bytes == 16384)
            }
        }

        /// A hook mounts the store. Until another hook unmounts it, tasks with a path fail, and each failure is reported.
        @Test func aHookThatTakesTheStore() throws {
            try CleanTests.withContainer(mounted: false) { mount, target in
                let list = try CleanTests.list(
                    [
                        ["Class": "A", "Selectors": ["mount"]], ["Path": "tmp/t"],
                        ["Class": "A", "Selectors": ["unmount"]],
                    ],
                    for: mount)
                let outcome = try PurgefsBinary.run(
                    "clean", target, "--plist", list, "--hook",
                    "A.mount=\(PurgefsBinary.path) mount \(mount.store) \(mount.root)",
                    "--hook", "A.unmount=\(PurgefsBinary.path) unmount \(mount.root)")
                #expect(outcome.status == 1 && outcome.errors.contains("task 2 failed: tmp/t: "), "\(outcome)")
                #expect(try CleanTests.files(mount).contains("tmp/t") && MountTable.entry(at: mount.root) == nil)
                #expect(outcome.output.contains("task 3: A.unmount: done\n"))
            }
        }

        /// A hook unmounts the container. Later tasks fail, because files that are then at the mount point do not belong to the
        /// app.
        @Test func aHookThatUnmounts() throws {
            try CleanTests.withContainer(mounted: true) { mount, target in
                let list = try CleanTests.list([["Class": "A", "Selectors": ["s"]], ["Path": "tmp"]], for: mount)
                let outcome = try PurgefsBinary.run(
                    "clean", target, "--plist", list, "--hook",
                    "A=\(PurgefsBinary.path) unmount \(target) && mkdir \(target)/tmp && echo mine > \(target)/tmp/t")
                #expect(Files.text("\(target)/tmp/t") == "mine\n", "\(outcome)")
                #expect(outcome.status == 1 && outcome.errors.contains("task 2 failed: tmp: "), "\(outcome)")
                #expect(outcome.errors.contains("cannot clean: \(target): it is no longer mounted\n"), "\(outcome)")
                try Program.run("rm", "-r", "\(target)/tmp").succeeded()
                try mount.awaitEnd()
            }
        }

        @Test func interrupted() throws {
            try CleanTests.withContainer(mounted: true) { mount, target in
                let list = try CleanTests.list([["Class": "A", "Selectors": ["wait"]], ["Path": "tmp/t"]], for: mount)
                let mark = "\(mount.scratch)/mark"
                let cleaner = try Program.start([
                    PurgefsBinary.path, "clean", target, "--plist", list, "--hook", "A=echo $$ > \(mark); sleep 1000",
                ])
                try eventually("the hook") { Files.text(mark).hasSuffix("\n") }
                cleaner.signal(SIGINT)
                #expect(try cleaner.wait(within: 20) == 130)
                #expect(cleaner.errors.contains("clean: interrupted") && mount.exists("tmp/t"))
                let hook = try #require(pid_t(Files.text(mark).split(separator: "\n")[0]))
                try eventually("the end of the hook") { kill(-hook, 0) != 0 }
            }
        }
    }
}
