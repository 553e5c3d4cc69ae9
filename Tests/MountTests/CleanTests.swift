import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Tasks of `purgefs clean`, on a mount and on an unmounted store.
    @Suite struct CleanTests {
        struct Line: Decodable, Equatable {
            var phase: String?
            var progress: Double?
            var task: Int?
            var path: String?
            var hook: String?
            var command: String?
            var files: Int?
            var bytes: Int64?
            var missing: Bool?
            var failed: Failed?
            var megabytes: Double?
            var before, after: Int64?

            /// The count of failed tasks in the last line, or the reason in a task's line.
            enum Failed: Decodable, Equatable {
                case count(Int)
                case reason(String)
                init(from decoder: any Decoder) throws {
                    let value = try decoder.singleValueContainer()
                    if let count = try? value.decode(Int.self) {
                        self = .count(count)
                    } else {
                        self = .reason(try value.decode(String.self))
                    }
                }
            }
            var reason: String? { if case .reason(let text) = failed { text } else { nil } }
        }

        static func lines(_ outcome: Outcome) throws -> [Line] {
            try outcome.output.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        }

        /// Writes a list outside the container and returns its path.
        static func list(_ tasks: [[String: Any]], for mount: TestMount, binary: Bool = false) throws -> String {
            let path = "\(mount.scratch)/PurgeableCache.plist"
            let data = try PropertyListSerialization.data(
                fromPropertyList: tasks, format: binary ? .binary : .xml, options: 0)
            try data.write(to: URL(fileURLWithPath: path))
            return path
        }

        /// Passes `body` a filled container and the target for `clean`: the mount, or the unmounted store, which is checked
        /// afterwards.
        static func withContainer(mounted: Bool, _ body: (TestMount, String) throws -> Void) throws {
            try withMount { mount in
                for path in [
                    "Library/Caches/images", "Library/Caches/images/deep", "Documents/feed", "Documents/feed/sub",
                ] {
                    try mount.makeDirectory(path)
                }
                for path in [
                    "Library/Caches/images/1", "Library/Caches/images/deep/2", "Library/Caches/other",
                    "Documents/feed/a.tmp", "Documents/feed/.b.tmp", "Documents/feed/kept", "Documents/feed/sub/c.tmp",
                    "tmp/t",
                ] {
                    try mount.make(path, size: 5000)
                }
                if !mounted { try mount.unmount() }
                try body(mount, mounted ? mount.root : mount.store)
                if !mounted { try PurgefsBinary.run("check", mount.store).succeeded() }
            }
        }

        static func files(_ mount: TestMount) throws -> [String] {
            let root = "\(mount.store)/container"
            return try Files.tree(root).filter { try Files.status("\(root)/\($0)").st_mode & S_IFMT != S_IFDIR }
                .sorted()
        }

        private static var seed: [[String: Any]] {
            [
                ["Path": "Library/Caches/images"], ["Path": "Documents/feed", "Entries": ["*.tmp"]],
                ["Class": "ImageCache", "Selectors": ["clearMemory", "clearDisk"]], ["Path": "tmp"],
            ]
        }

        @Test(arguments: [true, false], [true, false]) func theTwoKindsOfTasks(mounted: Bool, binary: Bool) throws {
            try Self.withContainer(mounted: mounted) { mount, target in
                let list = try Self.list(Self.seed, for: mount, binary: binary)
                let calls = "\(mount.scratch)/calls"
                let hook = "echo $PURGEFS_CLEAN_CLASS.$PURGEFS_CLEAN_SELECTOR $HOME $TMPDIR >> \(calls)"
                let words = [
                    PurgefsBinary.path, "clean", target, "--plist", list, "--json", "--hook", "ImageCache=\(hook)",
                ]
                let before = try Self.files(mount)
                let dry = try Program.run(words + ["--dry-run"])
                #expect(try dry.succeeded() != "" && dry.errors == "")
                #expect(
                    try Self.lines(dry).map { $0.path ?? $0.hook } == [
                        "Library/Caches/images/1", "Library/Caches/images/deep/2", "Library/Caches/images/deep/",
                        "Library/Caches/images/", "Documents/feed/.b.tmp", "Documents/feed/a.tmp",
                        "ImageCache.clearMemory", "ImageCache.clearDisk", "tmp/t",
                    ])
                #expect(try Self.files(mount) == before && !Files.exists(calls))

                let outcome = try Program.run(words)
                #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
                #expect(
                    try Self.files(mount) == [
                        "Documents/feed/kept", "Documents/feed/sub/c.tmp", "Library/Caches/other",
                    ])
                let container = mounted ? mount.root : "\(mount.store)/container"
                #expect(Files.exists("\(container)/tmp") && !Files.exists("\(container)/Library/Caches/images"))
                #expect(
                    Files.text(calls) == "ImageCache.clearMemory \(container) \(container)/tmp\n"
                        + "ImageCache.clearDisk \(container) \(container)/tmp\n")
                try Self.check(try Self.lines(outcome), mount, mounted: mounted)
            }
        }

        private static func check(_ lines: [Line], _ mount: TestMount, mounted: Bool) throws {
            let tasks = lines.filter { $0.task != nil }
            #expect(tasks.map(\.task) == [1, 2, 3, 3, 4] && tasks.allSatisfy { $0.failed == nil && $0.missing == nil })
            #expect(tasks.map(\.files) == [2, 2, nil, nil, 1])
            #expect(tasks.map(\.bytes) == [16384, 16384, nil, nil, 8192])
            for phase in ["preCalculating", "cleaning", "postCalculating"] {
                let progress = lines.filter { $0.phase == phase }.compactMap(\.progress)
                #expect(progress.first == 0 && progress.last == 1 && progress.count > 2, "\(phase)")
                #expect(zip(progress, progress.dropFirst()).allSatisfy { $0 < $1 }, "\(phase): \(progress)")
            }
            #expect(lines.compactMap(\.phase).uniqued == ["preCalculating", "cleaning", "postCalculating", "done"])
            let end = try #require(lines.last)
            #expect(end.before == 65536 && end.after == 24576 && end.bytes == 40960 && end.megabytes == 0.0390625)
            #expect(end.failed == .count(0))
            if mounted { #expect(try mount.number("storage.used") == 24576) }
        }

        @Test(arguments: [true, false]) func plainLines(mounted: Bool) throws {
            try Self.withContainer(mounted: mounted) { mount, target in
                let list = try Self.list([["Path": "tmp/t"], ["Path": "tmp/none"]], for: mount)
                let outcome = try PurgefsBinary.run("clean", "--plist", list, target)
                #expect(
                    try outcome.succeeded() == """
                        preCalculating: 64.0 KiB in 8 files
                        task 1: tmp/t: removed 1 file, 8.0 KiB
                        task 2: tmp/none: there is nothing
                        cleaning: 2 tasks, 0 failed
                        postCalculating: 56.0 KiB in 7 files
                        done: removed 0.01 MiB (8192 bytes)

                        """)
            }
        }

        /// A task with a forbidden path fails alone: the other tasks are carried out, and nothing outside the container is
        /// touched.
        @Test(arguments: [true, false]) func refusedPaths(mounted: Bool) throws {
            try Self.withContainer(mounted: mounted) { mount, target in
                let outside = "\(mount.scratch)/outside"
                try Files.makeDirectory(outside)
                try Files.make("\(outside)/canary", size: 10)
                let container = mounted ? mount.root : "\(mount.store)/container"
                try Files.symlink(outside, "\(container)/Documents/out")
                try Files.symlink("feed", "\(container)/Documents/in")
                try Files.symlink("../../Documents/feed", "\(container)/Library/Caches/images/link")
                let bad = [
                    outside, "/", "..", "../outside/canary", "Documents/../../..", "", ".purgefs", ".purgefs/events",
                    "Documents/out", "Documents/out/canary", "Documents/in", "Documents/in/kept",
                    "Documents/feed/kept/x",
                    ".",
                ]
                var tasks: [[String: Any]] = bad.map { ["Path": $0] }
                tasks += ["/etc/*", "../*", "", "a/../../*"].map { ["Path": "Documents", "Entries": [$0]] }
                tasks += [
                    ["Path": "Documents/feed/kept", "Entries": ["*"]],
                    ["Path": "Documents", "Entries": ["out/*", "in/*"]],
                ]
                tasks += [["Path": "Library/Caches/images"], ["Path": ".", "Entries": [".purgefs/*", "tmp/*"]]]
                let list = try Self.list(tasks, for: mount)
                let outcome = try PurgefsBinary.run("clean", target, "--plist", list, "--json")
                #expect(outcome.status == 1)
                let lines = try Self.lines(outcome).filter { $0.task != nil }
                #expect(lines.count == tasks.count)
                for line in lines.prefix(tasks.count - 3) {
                    #expect(line.reason != nil && line.files == 0, "\(line)")
                    #expect(outcome.errors.contains("task \(line.task ?? 0) failed: "), "\(line)")
                }
                #expect(lines.suffix(3).map(\.failed) == [nil, nil, nil] && lines.suffix(3).map(\.files) == [0, 3, 1])
                #expect(Files.exists("\(outside)/canary"))
                #expect(
                    try Self.files(mount) == [
                        "Documents/feed/.b.tmp", "Documents/feed/a.tmp", "Documents/feed/kept",
                        "Documents/feed/sub/c.tmp", "Documents/in", "Documents/out", "Library/Caches/other",
                    ])
            }
        }

        /// A symbolic link is removed, never its target. File names may contain any bytes.
        @Test(arguments: [true, false]) func hostileNames(mounted: Bool) throws {
            try Self.withContainer(mounted: mounted) { mount, target in
                let outside = "\(mount.scratch)/outside"
                try Files.makeDirectory(outside)
                try Files.make("\(outside)/canary", size: 10)
                let container = mounted ? mount.root : "\(mount.store)/container"
                let script = """
                    import os, sys
                    os.chdir(os.fsencode(sys.argv[1]))
                    for name in [b'-rf', b'\\xff\\xfe', b'a\\nb', b'*', b'[x]', b'$(touch pwned)', b'x' * 255]:
                        open(name, 'wb').write(b'1')
                    os.symlink(sys.argv[2], 'link')
                    os.symlink('/nowhere', 'dangling')
                    os.mkfifo('fifo')
                    os.link('-rf', 'second')
                    """
                let place = "\(container)/Library/Caches/images"
                try Program.run([Program.python, "-c", script, place, outside]).succeeded()
                let list = try Self.list([["Path": "Library/Caches/images", "Entries": ["*"]]], for: mount)
                let outcome = try PurgefsBinary.run("clean", target, "--plist", list, "--json")
                #expect(outcome.status == 0, "\(outcome)")
                #expect(try Files.names(in: place) == [] && Files.exists("\(outside)/canary"))
                let task = try #require(try Self.lines(outcome).first { $0.task == 1 })
                // Seven new files (one has two names), two links, a pipe, and the two files of 8 KiB. Links and pipes take no
                // space.
                #expect(task.files == 13 && task.bytes == 7 * 4096 + 2 * 8192)
            }
        }

        /// The standard folders of a container stay, and so do their inodes.
        @Test(arguments: [true, false]) func standardFolders(mounted: Bool) throws {
            try Self.withContainer(mounted: mounted) { mount, target in
                let container = mounted ? mount.root : "\(mount.store)/container"
                let folders = [
                    "Documents", "Library", "Library/Application Support", "Library/Caches", "Library/Preferences",
                    "tmp",
                ]
                let inodes = try folders.map { try Files.status("\(container)/\($0)").st_ino }
                let list = try Self.list(
                    [["Path": "Library"], ["Path": ".", "Entries": ["D*", "*/Caches", "*"]]], for: mount)
                let words = [PurgefsBinary.path, "clean", target, "--plist", list, "--json"]
                let planned = try Self.lines(try Program.run(words + ["--dry-run"])).compactMap(\.path)
                #expect(planned.contains("Documents/feed/"))
                #expect(Set(planned).isDisjoint(with: folders.map { $0 + "/" }))
                let outcome = try Program.run(words)
                #expect(outcome.status == 0, "\(outcome)")
                #expect(try Files.tree(container).sorted() == folders)
                #expect(try folders.map { try Files.status("\(container)/\($0)").st_ino } == inodes)
            }
        }

        /// A file that two tasks select is removed and listed once, also in the plan.
        @Test(arguments: [true, false]) func overlappingTasks(mounted: Bool) throws {
            try Self.withContainer(mounted: mounted) { mount, target in
                let list = try Self.list(
                    [
                        ["Path": "Documents/feed", "Entries": ["*.tmp"]], ["Path": "Documents"],
                        ["Path": "Documents/feed/kept"],
                    ], for: mount)
                let words = [PurgefsBinary.path, "clean", target, "--plist", list]
                let plan = try Program.run(words + ["--dry-run"]).succeeded()
                #expect(
                    plan == """
                        task 1        8.0 KiB  Documents/feed/.b.tmp
                        task 1        8.0 KiB  Documents/feed/a.tmp
                        task 2        8.0 KiB  Documents/feed/kept
                        task 2        8.0 KiB  Documents/feed/sub/c.tmp
                        task 2            0 B  Documents/feed/sub/
                        task 2            0 B  Documents/feed/
                        task 3: Documents/feed/kept: there is nothing
                        would remove 4 files, 32.0 KiB, and run 0 commands

                        """)
                let text = try Program.run(words).succeeded()
                #expect(text.contains("task 2: Documents: removed 2 files, 16.0 KiB\n"), "\(text)")
                #expect(text.contains("task 3: Documents/feed/kept: there is nothing\n"), "\(text)")
            }
        }

        @Test func aListInAPipe() throws {
            try Self.withContainer(mounted: false) { mount, target in
                try Program.run("mkfifo", "\(mount.scratch)/pipe").succeeded()
                let outcome = try PurgefsBinary.run("clean", target, "--plist", "\(mount.scratch)/pipe")
                #expect(outcome.errors.contains("/pipe: it is a pipe or a device\n  Put the list into a file"))
            }
        }

        /// An open file is removed like any file an app unlinks: it stays usable, and its space is free after the last close.
        @Test func openFiles() throws {
            try Self.withContainer(mounted: true) { mount, target in
                let file = try OpenFile(mount.path("tmp/t"), O_RDWR)
                let list = try Self.list([["Path": "tmp"]], for: mount)
                let outcome = try PurgefsBinary.run("clean", target, "--plist", list, "--json")
                #expect(outcome.status == 0 && !mount.exists("tmp/t"))
                #expect(try file.read(5000).count == 5000)
                #expect(try mount.number("storage.used") == 65536)
                file.close()
                #expect(try mount.number("storage.used") == 57344)
                #expect(try mount.purgesAfterUnmount().isEmpty)
            }
        }

        /// Nothing outside the container is removed while a program keeps swapping a folder for a link that leads there.
        @Test func swappedForALink() throws {
            try withMount { mount in
                let outside = "\(mount.scratch)/outside"
                try Files.makeDirectory(outside)
                for number in 0..<50 { try Files.make("\(outside)/\(number)", size: 10) }
                let script = """
                    import os, sys
                    root, outside = sys.argv[1:]
                    os.chdir(root + '/Library/Caches')
                    print(os.getpid(), flush=True)
                    while True:
                        try:
                            os.makedirs('a/b')
                            for n in range(20): open(f'a/b/{n}', 'w').close()
                            os.rename('a/b', 'c'); os.symlink(outside, 'a/b'); os.unlink('a/b'); os.rename('c', 'a/b')
                            os.rename('a', 'd'); os.symlink(outside, 'a'); os.unlink('a'); os.rename('d', 'a')
                        except OSError: pass
                        for name in ('a', 'a/b', 'c', 'd'):
                            try: os.unlink(name)
                            except OSError: pass
                    """
                let swapper = try Program.start([Program.python, "-c", script, mount.root, outside])
                let list = try Self.list(
                    [
                        ["Path": "Library/Caches/a/b"], ["Path": "Library/Caches/a/b", "Entries": ["*"]],
                        ["Path": "Library/Caches/a"], ["Path": "Library/Caches", "Entries": ["a/*", "*/b/*", "d"]],
                        ["Path": "Library/Caches"],
                    ], for: mount)
                for _ in 0..<Scale.of(60) {
                    let outcome = try PurgefsBinary.run("clean", mount.root, "--plist", list, "--json")
                    #expect(outcome.status <= 1, "\(outcome)")
                }
                #expect(try Files.names(in: outside).count == 50)
                swapper.signal(SIGKILL)
                try swapper.wait(within: 10)
            }
        }

        /// A file system that is mounted over a folder of the container is not entered.
        @Test(.enabled(if: geteuid() == 0, "mounting takes root")) func anotherFileSystemInIt() throws {
            try Self.withContainer(mounted: true) { mount, target in
                let place = mount.path("Library/Caches/images/deep")
                try Program.run("mount", "-t", "tmpfs", "tmpfs", place).succeeded()
                defer { _ = try? Program.run("umount", place) }
                try Files.make("\(place)/canary", size: 10)
                let list = try Self.list([["Path": "Library/Caches"]], for: mount)
                let outcome = try PurgefsBinary.run("clean", target, "--plist", list, "--json")
                #expect(outcome.status == 1 && Files.exists("\(place)/canary"))
                let line = try #require(try Self.lines(outcome).first { $0.task == 1 })
                #expect(line.reason == "images/deep: another file system is mounted there", "\(line)")
                #expect(line.files == 2, "the rest is gone")
                try Program.run("umount", place).succeeded()
            }
        }

        /// A Python program that runs a command on its own terminal with the given number of columns.
        private static let terminal = """
            import fcntl, os, pty, struct, sys, termios
            os.environ.update(TERM='xterm', LC_ALL='C')
            pid, terminal = pty.fork()
            if pid == 0:
                fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 24, int(sys.argv[1]), 0, 0))
                os.execv(sys.argv[2], sys.argv[2:])
            text = b''
            while True:
                try: piece = os.read(terminal, 65536)
                except OSError: break
                if not piece: break
                text += piece
            os.write(1, text)
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            """

        /// The progress line is always shorter than the terminal's width.
        @Test(arguments: [1, 5, 6, 23, 24, 25, 26]) func onANarrowTerminal(columns: Int) throws {
            try Self.withContainer(mounted: true) { mount, target in
                let list = try Self.list([["Path": "tmp"]], for: mount)
                let outcome = try Program.run([
                    Program.python, "-c", Self.terminal, "\(columns)", PurgefsBinary.path, "clean", target, "--plist",
                    list,
                ])
                #expect(outcome.status == 0 && outcome.output.contains("task 1: tmp: removed 1 file"), "\(outcome)")
                // An escape sequence that erases the rest of the line follows each drawing.
                let drawn = outcome.output.components(separatedBy: "\u{1B}[K").dropLast().compactMap {
                    $0.components(separatedBy: "\r").last
                }
                #expect(drawn.count > 6 && drawn.allSatisfy { $0.count < columns }, "\(drawn)")
                #expect(columns < 6 || drawn.contains { $0.hasSuffix(" 99 %") })
            }
        }

        @Test func onATerminal() throws {
            try Self.withContainer(mounted: true) { mount, target in
                let list = try Self.list(
                    [["Path": "tmp"], ["Path": "/etc"], ["Class": "A", "Selectors": ["speaks"]]], for: mount)
                let outcome = try Program.run([
                    Program.python, "-c", Self.terminal, "80", PurgefsBinary.path, "clean", target, "--plist", list,
                    "--hook", "A=echo words",
                ])
                #expect(outcome.status == 1)
                #expect(outcome.output.contains("\rpreCalculating  " + String(repeating: ".", count: 40) + "   0 %"))
                #expect(outcome.output.contains("\rcleaning        " + String(repeating: "#", count: 13)))
                // Lines as they stay on the screen: a carriage return restarts the line, and ESC [ K erases the rest.
                let shown = outcome.output.split(separator: "\r\n").map { line in
                    line.split(separator: "\r").last.map { $0.replacingOccurrences(of: "\u{1B}[K", with: "") } ?? ""
                }
                #expect(shown.contains("task 1: tmp: removed 1 file, 8.0 KiB"), "\(shown)")
                #expect(shown.contains("purgefs: task 2 failed: /etc: Path is absolute"), "\(shown)")
                #expect(shown.contains("words") && shown.contains("task 3: A.speaks: done"), "\(shown)")
                #expect(shown.last == "done: removed 0.01 MiB (8192 bytes)", "\(shown)")
            }
        }
    }
}

extension [String] {
    /// The elements without consecutive repetitions.
    fileprivate var uniqued: [String] { reduce(into: []) { if $0.last != $1 { $0.append($1) } } }
}
