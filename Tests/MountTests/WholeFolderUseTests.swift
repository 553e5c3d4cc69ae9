import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Folders that go as a whole while programs use them: watchers, readers, writers, and a daemon that is killed.
    @Suite struct WholeFolderUseTests {
        private func withDevice(deadline: Double = 240, _ body: (TestMount) throws -> Void) throws {
            try WholeFolderTests.withDevice(deadline: deadline, body)
        }

        /// A watcher of the parent sees the folder leave and a new one come; a watcher of the folder sees that it moved.
        @Test(arguments: WholeFolderTests.Place.allCases) func watchers(place: WholeFolderTests.Place) throws {
            try withDevice { mount in
                for number in 0..<20 { try mount.make("\(place.rawValue)/\(number)", size: 4096) }
                let name = place.rawValue.split(separator: "/").last.map(String.init) ?? ""
                let above = try DirectoryWatch(place == .caches ? mount.path("Library") : mount.root, for: .moves)
                let folder = try DirectoryWatch(mount.path(place.rawValue), for: .moves)
                try mount.write(place.command, to: "storage.reclaim")
                above.collect()
                folder.collect()
                #expect(above.movedAway == [name] && above.arrived == [name])
                #expect(folder.hasMoved)
                // The new folder can be watched in turn.
                let next = try DirectoryWatch(mount.path(place.rawValue), for: .moves)
                try mount.make("\(place.rawValue)/new", size: 4096)
                next.collect()
                #expect(next.arrived == ["new"])
            }
        }

        /// A reader that lists the folder by its path sees all 10,000 files or none (Programs/folder_reader.py).
        @Test func aReaderSeesAllFilesOrNone() throws {
            try withDevice { mount in
                let count = Scale.of(10_000)
                let program = "\(DocumentedExample.root)/Tests/MountTests/Programs/folder_reader.py"
                for _ in 0..<3 {
                    let outcome = try Program.run([
                        Program.python, program, mount.path("Library/Caches"), mount.control("storage.reclaim"),
                        "\(count)",
                    ])
                    #expect(try outcome.succeeded() == "\(count) 0\n")
                }
            }
        }

        /// A folder that a program has moved to a persistent place, together with the folder above it, keeps its files.
        @Test func movedWithTheFolderAbove() throws {
            let script = """
                import os, random, shutil, sys, threading, time
                top, rounds = sys.argv[1], int(sys.argv[2])
                def write(name, text): open(f"{top}/.purgefs/{name}", "w").write(text)
                for round in range(rounds):
                    os.makedirs(top + "/Library/Caches", exist_ok=True)
                    for number in range(20): open(f"{top}/Library/Caches/{number}", "w").write("x" * 5000)
                    purge = threading.Thread(target=write, args=("storage.others", "60M"))
                    purge.start(); time.sleep(random.uniform(0, 0.003))
                    os.rename(top + "/Library", top + "/Documents/L")
                    try: seen = len(os.listdir(top + "/Documents/L/Caches"))
                    except OSError: seen = 0
                    purge.join()
                    left = len(os.listdir(top + "/Documents/L/Caches"))
                    if left < seen: sys.exit(f"round {round}: {left} of {seen} files are left")
                    write("storage.others", "0"); shutil.rmtree(top + "/Documents/L"); os.mkdir(top + "/Library")
                """
            try withMount(["--total", "64M", "--profile", "device", "--purge-latency", "0"]) { mount in
                try Program.run(Program.python, "-c", script, mount.root, "\(Scale.of(500))").succeeded()
                #expect(try mount.number("storage.used") == Files.chargedTree(mount.root))
            }
        }

        /// An app that comes to the foreground while its folder is about to go keeps the folder. The call that holds up the
        /// purge has the folder above locked.
        @Test func launchedMeanwhile() throws {
            try withMount(["--total", "64M", "--profile", "device", "--purge-latency", "0"]) { mount in
                try mount.make("Library/Caches/old", size: 20 << 20)
                try mount.write("background", to: "app.state")
                try mount.write("mkdir@Library/x=1s", to: "faults")
                let holder = try Program.start(["mkdir", mount.path("Library/x")])
                try eventually("the call waits") { try mount.read("faults").hasPrefix("1 1 ") }
                #expect(throws: Errno.noSpace) { try Files.make(mount.path("Documents/big"), size: 50 << 20) }
                try eventually("the purge has begun") { try mount.read("app.state") == "terminated" }
                try mount.write("launch", to: "app.state")
                #expect(try holder.wait(within: Scale.patience) == 0)
                try eventually("the purge has ended") { try !mount.status().purging }
                #expect(mount.exists("Library/Caches/old"))
                #expect(try Files.names(in: "\(mount.store)/purgefs.purged/purged.caches") == [])
                #expect(try mount.number("storage.used") == Files.chargedTree(mount.root))
            }
        }

        /// No file is lost that a process moves out of the folder through a descriptor: the move succeeds with everything, or
        /// finds the folder gone. Nor can anything be moved into a folder that is gone.
        @Test func movesByDescriptor() throws {
            try withDevice { mount in
                let script = """
                    import os, sys
                    top, documents = (os.open(sys.argv[1] + "/" + each, os.O_RDONLY) for each in sys.argv[2:])
                    os.mkdir("n", dir_fd=top); os.close(os.open("n/f", os.O_CREAT, dir_fd=top))
                    os.close(os.open("kept", os.O_CREAT, dir_fd=documents))
                    open(sys.argv[1] + "/.purgefs/storage.reclaim", "w").write("caches")
                    for source, name, target in [(top, "n", documents), (documents, "kept", top)]:
                        try: os.rename(name, "moved", src_dir_fd=source, dst_dir_fd=target)
                        except FileNotFoundError: print("gone")
                    for make in [os.mkdir, os.mknod, lambda *_, dir_fd: os.open("new", os.O_CREAT, dir_fd=dir_fd)]:
                        try: make("new", 0o700, dir_fd=top)
                        except FileNotFoundError: print("gone")
                    print(os.listdir(documents))
                    """
                let outcome = try Program.run([
                    Program.python, "-c", script, mount.root, "Library/Caches", "Documents",
                ])
                #expect(try outcome.succeeded() == String(repeating: "gone\n", count: 5) + "['kept']\n")
            }
        }

        /// A file system that is mounted in the folder keeps the folder in its place, and its files go one by one.
        @Test func aMountInTheFolder() throws {
            try withDevice { mount in
                try mount.make("Library/Caches/a", size: 4096)
                try mount.makeDirectory("Library/Caches/x")
                mount.expectWarnings()
                let inner = mount.path("Library/Caches/x")
                try Program.run("mount", "-t", "tmpfs", "tmpfs", inner).succeeded()
                defer { _ = try? Program.run("umount", inner) }
                try mount.write("caches", to: "storage.reclaim")
                #expect(try Files.names(in: mount.path("Library/Caches")) == ["x"])
            }
        }

        /// A process whose working directory is purged with the whole folder finds that directory empty, and cannot make
        /// anything in it.
        @Test func aWorkingDirectoryInTheFolder() throws {
            try withDevice { mount in
                try mount.makeDirectory("Library/Caches/d")
                try mount.make("Library/Caches/d/a", size: 4096)
                let program = try Program.start(["sleep", "1000"], in: mount.path("Library/Caches/d"))
                defer { program.signal(SIGKILL) }
                let inside = "/proc/\(program.pid)/cwd"
                try eventually("its working directory") { try Files.names(in: inside) == ["a"] }
                try mount.write("caches", to: "storage.reclaim")
                try eventually("an empty folder") { try Files.names(in: inside) == [] }
                #expect(throws: Errno.noEntry) { try Files.make("\(inside)/new", size: 1) }
                program.signal(SIGKILL)
                try program.wait(within: 10)
                #expect(try mount.number("storage.used") == 0)
            }
        }

        /// Writers that make their folder for each file always succeed or see that it is gone. No block is lost or counted twice.
        @Test func besideWriters() throws {
            try withDevice { mount in
                let isDone = Tally()
                let made = Tally()
                let writers = Workers.start(4) { worker in
                    let folder = mount.path("Library/Caches/w\(worker)")
                    var number = 0
                    while isDone.value == 0 {
                        number += 1
                        do {
                            if !Files.exists(folder) { try Files.makeDirectory(folder) }
                            try Files.make("\(folder)/\(number % 20)", size: 4096 * (1 + number % 3))
                            made.add()
                        } catch let error as Errno where error == .noEntry || error == .exists {}
                    }
                }
                for _ in 0..<Scale.of(200) {
                    try mount.write("caches", to: "storage.reclaim")
                    usleep(5000)
                }
                isDone.add()
                try writers.join()
                #expect(made.value > 0)
                let used = try mount.number("storage.used")
                #expect(try Files.chargedTree(mount.root) == used)
                try mount.remount()
                #expect(try mount.number("storage.used") == used)
                try mount.unmount()
                try PurgefsBinary.run("check", mount.store).succeeded()
            }
        }

        /// Two commands at once, a rename of the folder's content, and a removal of the folder itself.
        @Test func besideOtherChangesOfTheFolder() throws {
            try withDevice { mount in
                for round in 0..<Scale.of(60) {
                    for number in 0..<20 { try mount.make("Library/Caches/\(number)", size: 4096) }
                    let changes = Workers.start(3) { worker in
                        switch worker {
                        case 0: _ = try? mount.write("caches", to: "storage.reclaim")
                        case 1:
                            for number in 0..<20 {
                                _ = try? Files.rename(
                                    mount.path("Library/Caches/\(number)"), mount.path("Documents/\(number)"))
                            }
                        default:
                            if round % 2 == 0 {
                                _ = try? Files.rename(mount.path("Library/Caches"), mount.path("Documents/old"))
                            } else {
                                _ = try? mount.write("all", to: "storage.reclaim")
                            }
                        }
                    }
                    try changes.join()
                    let left = try Files.tree(mount.path("Documents"))
                    #expect(
                        try mount.number("storage.used") == Files.chargedTree(mount.root), "round \(round): \(left)")
                    try Program.shell("rm -rf Documents/* && mkdir -p Library/Caches", in: mount.root).succeeded()
                }
            }
        }

        /// kill -9 of the daemon at any moment: afterwards, the folder has all of its old content or none of it.
        @Test(arguments: WholeFolderTests.Place.allCases) func killedAtAnyMoment(place: WholeFolderTests.Place) throws {
            var random = SeededGenerator(seed: 38)
            var outcomes: [String: Int] = [:]
            for round in 0..<Scale.of(20) {
                try withDevice(deadline: 120) { mount in
                    let isWhole = try kill(mount, place, after: UInt32(random.below(20_000)), "round \(round)")
                    outcomes[isWhole ? "not begun" : "done", default: 0] += 1
                }
            }
            print("\(place.rawValue): \(outcomes.sorted { $0.key < $1.key })")
        }

        /// Kills the daemon so many microseconds after a purge has begun, mounts again, and returns whether all files are there.
        private func kill(
            _ mount: TestMount, _ place: WholeFolderTests.Place, after delay: UInt32, _ label: String
        ) throws -> Bool {
            let folders = (0..<5).map { "d\($0)" }
            let files = folders.flatMap { folder in (0..<40).map { "\(folder)/\($0)" } }
            for path in folders { try mount.makeDirectory("\(place.rawValue)/\(path)") }
            for path in files { try mount.make("\(place.rawValue)/\(path)", size: 4096) }
            let content = Set(folders + files)
            let writer = Workers.start(1) { _ in
                // Fails if the daemon is killed before it answers.
                _ = try? mount.write(place.command, to: "storage.reclaim")
            }
            usleep(delay)
            try mount.crash()
            try writer.join()
            try mount.mount()
            let left = try Set(Files.tree(mount.path(place.rawValue)))
            #expect(left == content || left == [], "\(label): \(left.count) of \(content.count)")
            let layout: Set = [
                "Documents", "Library", "Library/Application Support", "Library/Caches", "Library/Preferences", "tmp",
            ]
            let paths = layout.union(left.map { "\(place.rawValue)/\($0)" })
            #expect(try Set(Files.tree(mount.root)) == paths, "\(label)")
            let used = try mount.number("storage.used")
            #expect(try used == Files.chargedTree(mount.root) && used == (left == [] ? 0 : 200 * 4096), "\(label)")
            try mount.unmount()
            #expect(try Set(Files.tree("\(mount.store)/container")) == paths, "\(label)")
            try PurgefsBinary.run("check", mount.store).succeeded()
            try mount.mount()
            return left == content
        }

        /// The folder goes while a shell program fills it: what an app meets that makes its folder only once.
        @Test func aFolderThatIsMadeOnlyOnce() throws {
            let once = """
                mkdir ~/Library/Caches/img; echo x > ~/Library/Caches/img/1; echo ready > $OUT/ready
                until test -e $OUT/go; do sleep 0.02; done; echo x > ~/Library/Caches/img/2
                """
            #expect(try ends(of: once) != 0)
            let each = once.replacingOccurrences(of: "done;", with: "done; mkdir -p ~/Library/Caches/img;")
            #expect(try ends(of: each) == 0)
        }

        /// Runs a program of an app, purges its caches once it is ready, and returns its status.
        private func ends(of script: String) throws -> Int32 {
            try Scratch.with("once") { scratch in
                let run = try Program.start(
                    [
                        PurgefsBinary.path, "run", "--profile", "device", "--", "sh", "-c",
                        "echo $PURGEFS_MOUNT > $OUT/mount; set -e; " + script,
                    ], environment: ["OUT": scratch.path])
                try eventually("the app is ready") { Files.exists("\(scratch.path)/ready") }
                let mount = Files.text("\(scratch.path)/mount").trimmingCharacters(in: .newlines)
                try PurgefsBinary.run("purge", mount, "--tier", "caches").succeeded()
                try Files.write("", to: "\(scratch.path)/go")
                return try run.wait(within: Scale.patience)
            }
        }
    }
}
