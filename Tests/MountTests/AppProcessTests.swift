import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// The processes of the app: they are stopped, continued and killed as its state says.
    @Suite struct AppProcessTests {
        /// Returns the letter of a process's state in /proc, or nil if there is no such process.
        private static func state(of pid: pid_t) -> Character? {
            let stat = Files.text("/proc/\(pid)/stat")
            return stat.lastIndex(of: ")").flatMap { stat[$0...].split(separator: " ").dropFirst().first?.first }
        }

        /// Waits until COMMAND has written the path of its mount to the file `mount`, and returns it.
        private func mountOfCommand(_ place: String) throws -> String {
            try eventually("COMMAND runs") { Files.text("\(place)/mount").hasSuffix("\n") }
            return Files.text("\(place)/mount").trimmingCharacters(in: .newlines)
        }

        private static func number(in file: String) -> pid_t? {
            pid_t(Files.text(file).trimmingCharacters(in: .whitespacesAndNewlines))
        }

        /// Whether a process is stopped, or waits for a child that was stopped between vfork(2) and exec(2).
        private static func isStopped(_ pid: pid_t) -> Bool { ["T", "D"].contains(state(of: pid)) }

        /// A COMMAND that starts processes all the time is killed with all of them.
        @Test func killedWhileItForks() throws {
            try Scratch.with("app") { scratch in
                let script = """
                    head -c 8M /dev/zero > ~/Library/Caches/a; echo background > $PURGEFS_MOUNT/.purgefs/app.state
                    for i in $(seq 3000); do sleep 1000 & done; wait
                    """
                let outcome = try Program.run(
                    [
                        PurgefsBinary.path, "run", "--quiet", "--total", "64M", "--profile", "device",
                        "--purge-latency",
                        "0", "--at", "1s", "storage.others=60M", "--", "sh", "-c", script,
                    ], environment: ["MARK": scratch.path])
                #expect(outcome.status == 137, "\(outcome)")
                let left = try Files.names(in: "/proc").filter {
                    Int($0) != nil && Files.text("/proc/\($0)/environ").contains("MARK=\(scratch.path)")
                }
                for pid in left.compactMap({ pid_t($0) }) { kill(pid, SIGKILL) }
                #expect(left == [])
            }
        }

        /// When `purgefs app suspend` returns, COMMAND and its child in another session are stopped. Both continue together.
        @Test func suspendedAndContinued() throws {
            try Scratch.with("app") { scratch in
                let place = scratch.path
                let script = """
                    setsid sh -c 'echo $$ > $OUT/child; exec sleep 1000' &
                    echo $PURGEFS_MOUNT > $OUT/mount; echo $$ > $OUT/parent
                    until test -e $OUT/end; do sleep 0.02; done; kill $(cat $OUT/child); exit 7
                    """
                let child = try Program.start(
                    [PurgefsBinary.path, "run", "--", "sh", "-c", script], environment: ["OUT": place])
                try eventually("COMMAND runs") {
                    Self.number(in: "\(place)/child") != nil && Self.number(in: "\(place)/parent") != nil
                }
                let mount = Files.text("\(place)/mount").trimmingCharacters(in: .newlines)
                let pids = try ["parent", "child"].map { try #require(Self.number(in: "\(place)/\($0)")) }
                #expect(Files.text("\(mount)/.purgefs/app.state") == "foreground\n")
                #expect(Files.text("\(mount)/.purgefs/app.process") == "\(pids[0])\n")
                try Program.run(PurgefsBinary.path, "app", "suspend", mount).succeeded()
                #expect(pids.allSatisfy(Self.isStopped), "\(pids.map(Self.state(of:)))")
                #expect(Files.text("\(mount)/.purgefs/app.state") == "suspended\n")
                for command in ["background", "suspend", "launch"] {
                    try Program.run(PurgefsBinary.path, "app", command, mount).succeeded()
                    let states = pids.map(Self.state(of:))
                    let isRight = command == "suspend" ? pids.allSatisfy(Self.isStopped) : !states.contains("T")
                    #expect(isRight, "\(command): \(states)")
                }
                try Files.write("", to: "\(place)/end")
                #expect(try child.wait(within: Scale.patience) == 7)
                try eventually("no process is left") { pids.allSatisfy { Self.state(of: $0) ?? "Z" == "Z" } }
            }
        }

        /// A suspended app that is terminated never runs again; one in the foreground goes on.
        @Test(arguments: ["terminate", "update", "offload"]) func theEndOfASuspendedApp(command: String) throws {
            let run = try Program.run(
                PurgefsBinary.path, "run", "--state", "suspended", "--at", "1s", "app.state=\(command)", "--",
                "sleep", "1000")
            #expect(run.status == 137, "\(run)")
            let other = try Program.run(
                PurgefsBinary.path, "run", "--", "sh", "-c",
                "echo \(command) > $PURGEFS_MOUNT/.purgefs/app.state; exit 3")
            #expect(other.status == 3, "\(other)")
        }

        /// A database in a shared folder: suspended in the middle of a transaction, and after it.
        @Test(arguments: ["BEGIN IMMEDIATE; INSERT INTO t VALUES(1)", "INSERT INTO t VALUES(1)"], ["WAL", "DELETE"])
        func aSharedDatabase(statement: String, mode: String) throws {
            try Scratch.with("group") { scratch in
                let place = scratch.path
                let program = """
                    import os, sqlite3, sys, time
                    db = sqlite3.connect(sys.argv[1], isolation_level=None)
                    db.execute("PRAGMA journal_mode=\(mode)"); db.execute("CREATE TABLE t(a)")
                    db.execute("SELECT count(*) FROM t").fetchall()
                    for statement in sys.argv[2].split(";"): db.execute(statement)
                    open(sys.argv[3] + "/new", "w").write(os.environ["PURGEFS_MOUNT"])
                    os.rename(sys.argv[3] + "/new", sys.argv[3] + "/mount")
                    while not os.path.exists(sys.argv[3] + "/end"): time.sleep(0.02)
                    """
                let child = try Program.start([
                    PurgefsBinary.path, "run", "--shared", place, "--summary", "\(place)/summary", "--", "python3",
                    "-c",
                    program, "\(place)/group.sqlite", statement, place,
                ])
                try eventually("COMMAND has run its statements") { Files.exists("\(place)/mount") }
                let mount = Files.text("\(place)/mount")
                try Program.run(PurgefsBinary.path, "app", "suspend", mount).succeeded()
                if !statement.hasPrefix("BEGIN") {
                    try Program.run(PurgefsBinary.path, "app", "launch", mount).succeeded()
                    try Files.write("", to: "\(place)/end")
                }
                let status = try child.wait(within: Scale.patience)
                let summary = Files.text("\(place)/summary")
                if statement.hasPrefix("BEGIN") {
                    #expect(status == 137, "\(child.errors)")
                    let told = child.errors
                    #expect(told.contains("the system terminated the app (0xdead10cc, lockHeldWhileSuspended: "))
                    #expect(told.contains("group.sqlite") && told.contains("(python3)"), "\(told)")
                    #expect(summary.contains("0xdead10cc"))
                } else {
                    #expect(status == 0 && !summary.contains("0xdead10cc"), "\(child.errors)")
                }
            }
        }

        /// Locks that do not end the app: one in the container, which is a finding of `diagnose`, and one outside of the shared
        /// folders.
        @Test func locksThatAreNoReason() throws {
            try Scratch.with("locks") { scratch in
                let place = scratch.path
                try Files.makeDirectory("\(place)/group")
                let script = """
                    exec 8> $HOME/Documents/own 9> $OUT/other; flock 8; flock -s 9; echo $PURGEFS_MOUNT > $OUT/mount
                    until test -e $OUT/end; do sleep 0.02; done; exit 5
                    """
                let child = try Program.start(
                    [
                        PurgefsBinary.path, "run", "--shared", "\(place)/group", "--events", "\(place)/events", "--",
                        "bash",
                        "-c", script,
                    ], environment: ["OUT": place])
                let mount = try mountOfCommand(place)
                for command in ["suspend", "launch"] {
                    try Program.run(PurgefsBinary.path, "app", command, mount).succeeded()
                }
                let found = try PurgefsBinary.run("diagnose", mount + "/Documents/own").succeeded()
                #expect(found.contains("! note: files that the app kept locked while it was suspended (1)\n"))
                #expect(found.contains("Documents/own  exclusive lock (flock), once\n"), "\(found)")
                let all = try PurgefsBinary.run("diagnose", "--all", mount, "--json").succeeded()
                #expect(all.contains("\"rule\": \"lockHeld\",\n      \"findings\": 1\n"), "\(all)")
                try Files.write("", to: "\(place)/end")
                #expect(try child.wait(within: Scale.patience) == 5)
                let told = try StoreEvent.lines(Files.text("\(place)/events")).filter { $0.type == "lockHeld" }
                #expect(told.map(\.path) == ["Documents/own"])
                #expect(told.map(\.reason) == ["exclusive lock (flock)"])
            }
        }

        /// No status is lost and no process is left beside changes at any moment, even if the daemon is killed
        /// (Programs/app_states.py). PURGEFS_TEST_SCALE=1 runs 200 rounds.
        @Test func changesAtAnyMoment() throws {
            try Scratch.with("states") { scratch in
                let program = "\(DocumentedExample.root)/Tests/MountTests/Programs/app_states.py"
                let rounds = Scale.of(200)
                let outcome = try Program.run([
                    Program.python, program, PurgefsBinary.path, scratch.path, "\(rounds)", "20261127",
                ])
                #expect(try outcome.succeeded() == "\(rounds) rounds\n")
            }
        }

        /// Signals that ask COMMAND to end reach it although it is stopped, and so do its children.
        @Test(arguments: [SIGTERM, SIGINT, SIGHUP]) func anEndWhileSuspended(signal: Int32) throws {
            try Scratch.with("end") { scratch in
                let script = """
                    sh -c 'echo x > $OUT/child; exec sleep 1000' & trap 'kill %1; wait; exit 9' TERM INT HUP
                    until test -e $OUT/child; do sleep 0.02; done; echo $PURGEFS_MOUNT > $OUT/mount; wait
                    """
                let child = try Program.start(
                    [PurgefsBinary.path, "run", "--", "bash", "-c", script], environment: ["OUT": scratch.path])
                let mount = try mountOfCommand(scratch.path)
                try Program.run(PurgefsBinary.path, "app", "suspend", mount).succeeded()
                child.signal(signal)
                #expect(try child.wait(within: Scale.patience) == 9)
            }
        }

        @Test func anOffloadedApp() throws {
            try Scratch.with("offloaded") { scratch in
                let store = "\(scratch.path)/store"
                try Program.run(PurgefsBinary.path, "run", "--quiet", "--store", store, "--", "true").succeeded()
                try PurgefsBinary.run("app", "offload", store).succeeded()
                let run = try PurgefsBinary.run("run", "--store", store, "--", "true")
                #expect(
                    run.status == 125 && run.errors.contains("Install it first: purgefs app install \(store)"), "\(run)"
                )
                let mount = "\(scratch.path)/mount"
                try Files.makeDirectory(mount)
                try PurgefsBinary.run("mount", store, mount).succeeded()
                let refused = try ["launch", "suspend"].map { try PurgefsBinary.run("app", $0, mount).errors }
                #expect(refused[0].contains("it is offloaded\n  Install it first: purgefs app install \(mount)"))
                #expect(refused[1].contains("it does not run\n  Launch it first: purgefs app launch \(mount)"))
                try PurgefsBinary.run("unmount", mount).succeeded()
                try PurgefsBinary.run("app", "install", store).succeeded()
                try PurgefsBinary.run("run", "--quiet", "--store", store, "--", "true").succeeded()
                // A new installation is not offloaded.
                try PurgefsBinary.run("app", "offload", store).succeeded()
                try PurgefsBinary.run("app", "delete", store).succeeded()
                try PurgefsBinary.run("run", "--quiet", "--store", store, "--", "true").succeeded()
            }
        }

        /// A lock that COMMAND inherits from the process that started `purgefs run` does not end the suspended app.
        @Test func anInheritedLock() throws {
            try Scratch.with("locks") { scratch in
                let place = scratch.path
                let child = try Program.start(
                    [
                        "flock", "\(place)/lock", PurgefsBinary.path, "run", "--", "sh", "-c",
                        "echo $PURGEFS_MOUNT > $OUT/mount; until test -e $OUT/end; do sleep 0.02; done; exit 5",
                    ], environment: ["OUT": place])
                let mount = try mountOfCommand(place)
                for command in ["suspend", "launch"] {
                    try Program.run(PurgefsBinary.path, "app", command, mount).succeeded()
                }
                try Files.write("", to: "\(place)/end")
                #expect(try child.wait(within: Scale.patience) == 5)
            }
        }

        @Test func aSharedFolderThatIsMissing() throws {
            let run = try PurgefsBinary.run("run", "--shared", "/nonexistent", "--", "true")
            #expect(run.status == 64 && run.errors.contains("'/nonexistent' is no directory"), "\(run)")
        }

        @Test func withoutSignals() throws {
            let run = try Program.run(
                PurgefsBinary.path, "run", "--signals", "off", "--state", "suspended", "--", "sh", "-c",
                "cat $PURGEFS_MOUNT/.purgefs/app.state $PURGEFS_MOUNT/.purgefs/app.process")
            #expect(try run.succeeded() == "suspended\n0\n")
        }

        /// What the app meets at its start.
        @Test(arguments: [
            ("background", "background", "unlocked"), ("locked", "background", "locked"),
            ("beforeFirstUnlock", "background", "beforeFirstUnlock"),
        ]) func startsIn(state: String, app: String, device: String) throws {
            let run = try Program.run(
                PurgefsBinary.path, "run", "--state", state, "--", "sh", "-c",
                "cd $PURGEFS_MOUNT/.purgefs; cat app.state device.state")
            #expect(run.output == "\(app)\n\(device)\n", "\(run)")
        }

        /// Malformed text, a process that does not exist, one that has the daemon among its descendants, and a thread that is
        /// not the first of its process.
        @Test func processesThatAreRefused() throws {
            try withMount { mount in
                let wrong: [(String, Errno)] = [("1x", .invalid), ("-1", .invalid), ("4194305", .noSuchProcess)]
                for (text, expected) in wrong + [("1", .invalid)] {
                    var found: Errno?
                    do throws(Errno) { try mount.write(text, to: "app.process") } catch { found = error }
                    #expect(found == expected, "\(text)")
                }
                // A thread of this process that is not its first one.
                let thread = try #require(try Files.names(in: "/proc/self/task").first { $0 != "\(getpid())" })
                #expect(throws: Errno.noSuchProcess) { try mount.write(thread, to: "app.process") }
                let process = try mount.read("app.process")
                #expect(process == "0")
            }
        }
    }
}
