import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// `purgefs purge PATH...` and `--path GLOB` purge exactly the named files, and report each file that cannot be purged.
    @Suite struct PurgePathTests {
        private struct Line: Decodable {
            struct User: Decodable {
                let pid: Int32
                let command: String
            }
            let path: String
            let reason: String?
            let refused: String?
            let users: [User]?
        }
        private func purge(_ arguments: [String], in directory: String? = nil) throws -> Outcome {
            try Program.run([PurgefsBinary.path, "purge"] + arguments, in: directory)
        }
        private func lines(_ outcome: Outcome) throws -> [Line] {
            try outcome.output.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        }
        private func makeFiles(_ mount: TestMount) throws {
            try mount.makeDirectory("Library/Caches/thumbs")
            for path in ["Library/Caches/thumbs/1", "Library/Caches/thumbs/2", "Library/Caches/a", "Documents/kept"] {
                try mount.make(path, size: 4096)
            }
            try mount.make("tmp/t", size: 0)
        }

        /// Purges paths that are relative to the working directory, in a mount or in a store. Other files stay, and the events
        /// have the reason of the files' place.
        @Test(arguments: [true, false]) func theseFilesAndTrees(mounted: Bool) throws {
            try withMount { mount in
                try makeFiles(mount)
                if !mounted { try mount.unmount() }
                let library = mounted ? mount.path("Library") : "\(mount.store)/container/Library"
                let words = ["Caches/thumbs/", "../Library/./Caches/a", "--json"]
                let paths = ["Library/Caches/thumbs/1", "Library/Caches/thumbs/2", "Library/Caches/a"]
                let dry = try purge(words + ["--dry-run"], in: library)
                #expect(dry.status == 0 && Files.exists("\(library)/Caches/a"), "\(dry)")
                let outcome = try purge(words, in: library)
                #expect(outcome.status == 0 && outcome.output == dry.output, "\(outcome)")
                #expect(try lines(outcome).map(\.path) == paths)
                #expect(try Files.names(in: "\(library)/Caches") == ["thumbs"])
                #expect(try Files.names(in: "\(library)/Caches/thumbs") == [])
                if mounted { try mount.unmount() }
                let events = try StoreEvent.journal(of: mount.store).filter { $0.type == "purge" }
                #expect(events.map(\.path) == paths)
                #expect(events.allSatisfy { $0.reason == "caches" && $0.trigger == "command" })
                #expect(Files.exists("\(mount.store)/container/tmp/t"))
            }
        }

        /// Files that can be purged are purged although others cannot.
        @Test func whatCannotGoIsNamed() throws {
            try withMount { mount in
                try makeFiles(mount)
                try Files.link(mount.path("Library/Caches/thumbs/1"), mount.path("Library/Caches/thumbs/3"))
                try Program.run("mkfifo", mount.path("tmp/pipe")).succeeded()
                let named = [
                    ("Documents/kept", "not marked purgeable"), ("none", "No such file"),
                    (".purgefs/status.json", "control directory"), ("tmp/pipe", "a pipe"),
                    ("Library/Caches/thumbs/3", "hard-linked"), ("/etc/passwd", "not in a container"),
                ]
                let outcome = try purge(named.map(\.0) + ["Library/Caches/a", "tmp/t"], in: mount.root)
                #expect(outcome.status == 1 && outcome.output.contains("purged 2 files, 4.0 KiB"), "\(outcome)")
                for (path, reason) in named {
                    let line = outcome.errors.split(separator: "\n").first { $0.contains(path) }
                    #expect(line?.contains(reason) ?? false, "\(path): \(outcome.errors)")
                }
                #expect(mount.exists("Documents/kept") && !mount.exists("Library/Caches/a") && !mount.exists("tmp/t"))
                #expect(try purge([mount.root]).status == 64, "a whole container is not named by chance")
                #expect(try purge([mount.store]).status == 64)
            }
        }

        @Test func aPatternThatMatchesOnlyFolders() throws {
            try withMount { mount in
                try mount.makeDirectory("Library/Caches/thumbs")
                for options in [["--dry-run"], []] {
                    let outcome = try purge(["--path", "Library/Caches/*"] + options, in: mount.root)
                    let said = outcome.output.split { $0.isWhitespace }.joined(separator: " ")
                    #expect(
                        outcome.status == 0 && said.contains("the named paths have no files to purge"), "\(outcome)")
                }
                #expect(try purge(["--path", "Library/Caches/none*"], in: mount.root).status == 1)
            }
        }

        /// The message names the process that has the file open through a descriptor, or only through a mapping.
        @Test(arguments: ["f = open('f')", "import mmap; f = mmap.mmap(os.open('f', os.O_RDWR), 4096); os.close(3)"])
        func whoHasItOpen(opening: String) throws {
            try withMount { mount in
                try mount.make("tmp/f", size: 4096)
                let script = "import os\n\(opening)\nopen('ready', 'w').close()\nimport time; time.sleep(1000)"
                let user = try Program.start([Program.python, "-c", script], in: mount.path("tmp"))
                defer { user.signal(SIGKILL) }
                try eventually("an open file") { mount.exists("tmp/ready") }
                let outcome = try purge([mount.path("tmp/f")])
                #expect(outcome.status == 1 && outcome.errors.contains("\(mount.root)/tmp/f: it is in use by process"))
                #expect(
                    outcome.errors.contains("process \(user.pid) (") && outcome.errors.contains("python"), "\(outcome)")
                let line = try #require(try lines(try purge(["tmp", "--json", "--dry-run"], in: mount.root)).last)
                #expect(line.path == "tmp/f" && line.refused == "open" && line.users?.map(\.pid) == [user.pid])
                #expect(line.users?.first?.command == "\(Program.python) -c \(script)", "whole, as it is")
                user.signal(SIGKILL)
                try user.wait(within: 10)
                try purge([mount.path("tmp/f")]).succeeded()
            }
        }

        /// A symbolic link in the container is purged itself, not its target. Links in the middle of a path, and links from
        /// outside, are followed.
        @Test func links() throws {
            try withMount { mount in
                try makeFiles(mount)
                let outside = "\(mount.scratch)/outside"
                try Files.makeDirectory(outside)
                try Files.write("x", to: "\(outside)/f")
                for (target, path) in [
                    (outside, "tmp/out"), ("../Library/Caches/thumbs", "tmp/in"), (mount.root, "tmp/self"),
                ] { try Files.symlink(target, mount.path(path)) }
                let refused = try purge(["tmp/out/f", "tmp/out/"], in: mount.root)
                #expect(refused.status == 1 && refused.output == "" && Files.exists("\(outside)/f"), "\(refused)")
                try purge(["tmp/in/1", "tmp/self/Library/Caches/a", "tmp/out"], in: mount.root).succeeded()
                #expect(!mount.exists("Library/Caches/thumbs/1") && !mount.exists("Library/Caches/a"))
                try purge(["tmp"], in: mount.root).succeeded()
                #expect(try Files.names(in: mount.path("tmp")) == [])
                #expect(Files.exists("\(outside)/f") && mount.exists("Library/Caches/thumbs/2"))
                try Files.symlink(mount.path("Library/Caches/thumbs/2"), "\(outside)/in")
                try purge(["\(outside)/in"]).succeeded()
                #expect(!mount.exists("Library/Caches/thumbs/2") && (try? Files.names(in: outside).count) == 2)
            }
        }

        /// All named files are purged, however many they are and whatever bytes their names have.
        @Test func anyName() throws {
            try withMount { mount in
                let count = Scale.of(10_000)
                let script = """
                    import os, subprocess, sys
                    os.chdir('tmp')
                    odd = [b'a\\nb', b'\\xff\\xfe', b' ', b'-x', b'*', b'\\n', b'quote"', b'back\\\\slash', b'n' * 255]
                    names = odd + [b'%d' % n for n in range(\(count))]
                    for name in names + [b'kept', b'\\xff']: open(name, 'w').write('x')
                    done = subprocess.run([sys.argv[1], 'purge', '--'] + names, capture_output=True)
                    print(done.returncode, done.stdout.split(b'\\n')[-2].decode().split(',')[0], done.stderr, sorted(os.listdir(b'.')))
                    """
                let outcome = try Program.run([Program.python, "-c", script, PurgefsBinary.path], in: mount.root)
                #expect(outcome.output == "0 purged \(count + 9) files b'' [b'kept', b'\\xff']\n", "\(outcome)")
            }
        }

        /// Patterns are relative to TARGET, or absolute. A tree that matches is purged as a whole.
        @Test func patterns() throws {
            try withMount { mount in
                try makeFiles(mount)
                func dry(_ arguments: String...) throws -> [String] {
                    try lines(purge(arguments + ["--json", "--dry-run"])).filter { $0.refused == nil }.map(\.path)
                }
                let thumbs = ["Library/Caches/thumbs/1", "Library/Caches/thumbs/2"]
                #expect(try dry(mount.root, "--path", "*/[12]") == thumbs)
                #expect(try dry(mount.root, "--path", "Library/*/thumb?") == thumbs)
                #expect(try dry(mount.path("Library"), "--path", "Caches/t*") == thumbs)
                #expect(
                    try dry(mount.root, "--path", mount.path("Library/*/1"), "--path", "tmp/*") == [thumbs[0], "tmp/t"])
                let nothing = try purge([mount.root, "--path", "*.none"])
                #expect(nothing.status == 1 && nothing.errors.contains("'*.none'"), "\(nothing)")
                let outside = try purge([mount.root, "--path", "/etc/*"])
                #expect(outside.status == 1 && outside.errors.contains("/etc/*: it is outside"), "\(outside)")
                let some = try purge([mount.root, "--path", "*e*t*", "--dry-run"])
                #expect(some.status == 1 && some.errors.contains("Documents/kept"), "\(some)")
                #expect(mount.exists("Documents/kept"))
                try purge([mount.root, "--path", "*/1"]).succeeded()
                let events = try PurgefsBinary.run("events", mount.root, "--json", "--path", mount.path("Library/*/1"))
                #expect(try StoreEvent.lines(events.succeeded()).map(\.path).last == thumbs[0])
                #expect(try PurgefsBinary.run("events", mount.root, "--path", "/etc/*").status == 1)
            }
        }

        /// Even an absolute pattern matches only files below TARGET.
        @Test(arguments: [true, false]) func aPatternThatLeavesTheTarget(mounted: Bool) throws {
            try withMount { mount in
                try makeFiles(mount)
                if !mounted { try mount.unmount() }
                let container = mounted ? mount.root : "\(mount.store)/container"
                for (target, pattern) in [
                    ("tmp", "Library/Caches/a"), ("tmp", "Library/*"), ("tmp", "[tL]*"),
                    ("Library/Caches", "L*/Caches/a"),
                    ("Library/Caches/thumbs", "Library/Caches/thumbs*"),
                ] {
                    let outcome = try purge(["\(container)/\(target)", "--path", "\(container)/\(pattern)"])
                    #expect(outcome.status == 1 && outcome.errors.contains("it is outside of TARGET"), "\(outcome)")
                }
                #expect(Files.exists("\(container)/Library/Caches/a") && Files.exists("\(container)/tmp/t"))
                try purge(["\(container)/Library", "--path", "\(container)/Library/*/[1a]"]).succeeded()
                #expect(try Files.names(in: "\(container)/Library/Caches") == ["thumbs"])
                #expect(try Files.names(in: "\(container)/Library/Caches/thumbs") == ["2"])
            }
        }

        /// A copy of a store inside a container is ordinary data of the app. In a persistent place it is persistent, whether
        /// the container is mounted or not.
        @Test(arguments: [true, false]) func aStoreInTheContainer(mounted: Bool) throws {
            try withMount { mount in
                let copy = mount.path("Documents/backup")
                try Program.run("mkdir", "-p", "\(copy)/container/tmp").succeeded()
                try Program.run("cp", "\(mount.store)/device.json", copy).succeeded()
                for name in ["q", "r"] { try Files.write("x", to: "\(copy)/container/tmp/\(name)") }
                if !mounted { try mount.unmount() }
                let folder = (mounted ? mount.root : "\(mount.store)/container") + "/Documents/backup/container/tmp"
                let outcome = try purge(["\(folder)/q"])
                #expect(outcome.status == 1 && outcome.errors.contains("not marked purgeable"), "\(outcome)")
                #expect(try purge([folder, "--all"]).succeeded() == "purged 0 files, 0 B\n")
                try PurgefsBinary.run("mark", "--purgeable", "\(folder)/q").succeeded()
                try purge(["\(folder)/q"]).succeeded()
                #expect(try Files.names(in: folder) == ["r"])
                if mounted { try mount.unmount() }
                let events = try StoreEvent.journal(of: mount.store).filter { $0.type == "purge" }
                #expect(events.map(\.path) == ["Documents/backup/container/tmp/q"])
            }
        }

        /// A TARGET below the mount point limits the purge to files below it.
        @Test(arguments: [true, false]) func aTargetBelowTheMountPoint(mounted: Bool) throws {
            try withMount(["--total", "64M", "--others", "1M", "--others-purgeable", "8K"]) { mount in
                try makeFiles(mount)
                if !mounted { try mount.unmount() }
                let container = mounted ? mount.root : "\(mount.store)/container"
                #expect(
                    try lines(purge(["\(container)/Library/Caches/thumbs", "--all", "--json", "--dry-run"])).count == 2)
                try purge(["Caches/thumbs", "--all"], in: "\(container)/Library").succeeded()
                #expect(try Files.names(in: "\(container)/Library/Caches/thumbs") == [])
                #expect(try purge(["\(container)/Library", "--bytes", "8K"]).status == 1)
                #expect(!Files.exists("\(container)/Library/Caches/a") && Files.exists("\(container)/tmp/t"))
                #expect(try purge(["\(container)/Documents", "--all"]).succeeded() == "purged 0 files, 0 B\n")
                let json = try PurgefsBinary.run("status", mount.store, "--json").succeeded()
                let status = try JSONDecoder().decode(MountStatus.self, from: Data(json.utf8))
                #expect(status.storage.othersPurgeable == 8192)
            }
        }

        /// A file system that is mounted over a folder is not part of the container. One command cannot purge two
        /// containers.
        @Test func otherMounts() throws {
            try withMount { mount in
                try withMount { other in
                    for one in [mount, other] { try one.make("tmp/f", size: 1) }
                    let both = try purge([mount.path("tmp/f"), other.path("tmp/f")])
                    #expect(both.status == 64 && mount.exists("tmp/f") && other.exists("tmp/f"), "\(both)")
                }
                try mount.makeDirectory("tmp/over")
                try Program.run("mount", "-t", "tmpfs", "none", mount.path("tmp/over")).succeeded()
                defer { _ = try? Program.run("umount", mount.path("tmp/over")) }
                try Files.write("x", to: mount.path("tmp/over/f"))
                let outcome = try purge([mount.path("tmp/over/f")])
                #expect(outcome.status == 1 && outcome.errors.contains("another file system"), "\(outcome)")
                #expect(mount.exists("tmp/over/f"))
            }
        }

        /// An ordinary user learns which of their own processes has the file open.
        @Test func asAnOrdinaryUser() throws {
            let outcome = try ClosedStoreTests().asUser(
                """
                ./purgefs mount --total 1M store mountpoint
                trap './purgefs unmount --force mountpoint' EXIT
                echo x > mountpoint/tmp/f; echo x > mountpoint/tmp/g
                sleep 100 < mountpoint/tmp/f & user=$!
                until [ "$(cat /proc/$user/comm)" = sleep ]; do sleep 0.01; done
                ./purgefs purge mountpoint/tmp/f mountpoint/tmp/g && exit 9
                kill $user; wait $user || true
                echo user $user
                ./purgefs purge mountpoint/tmp
                """)
            let user = outcome.output.split(separator: "\n").first { $0.hasPrefix("user ") }?.dropFirst(5) ?? "none"
            #expect(
                outcome.status == 0 && outcome.errors.contains("in use by process \(user) (sleep 100)"), "\(outcome)")
            #expect(outcome.output.contains("tmp/g\npurged 1 file, 4.0 KiB\n"), "\(outcome)")
        }
    }
}
