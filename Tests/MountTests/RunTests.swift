import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// `purgefs run -- CMD` leaves no mount, no process and no temporary store behind, however CMD ends.
    @Suite struct RunTests {
        /// A run whose command first writes down its mount and its store. Both must be gone afterwards.
        final class Trace {
            let scratch: String
            let token = "PURGEFS_TEST_\(UUID().uuidString)"
            private(set) var child: ChildProcess?
            init(_ scratch: String) { self.scratch = scratch }

            /// Starts `script` in a run. `$OUT` is a directory of the test, whose files survive the run.
            func start(_ script: String, options: [String] = []) throws {
                let note =
                    "cat $PURGEFS_MOUNT/.purgefs/status.json > $OUT/status.part && mv $OUT/status.part $OUT/status; "
                let command = ["run"] + options + ["--", "/bin/sh", "-c", note + script]
                child = try Program.start(
                    [PurgefsBinary.path] + command,
                    environment: ["OUT": scratch, "PURGEFS_TEST_TOKEN": token])
            }
            func end(within seconds: Double = 30) throws -> (status: Int32, errors: String) {
                guard let child else { throw TestFailure("not started") }
                return (try child.wait(within: seconds), child.errors)
            }
            func waitForNote(_ name: String = "status") throws {
                try eventually("\(name) by the command") { !Files.text("\(scratch)/\(name)").isEmpty }
            }

            func checkNothingIsLeft() throws {
                let status = try JSONDecoder().decode(
                    MountStatus.self, from: Data(try Files.content("\(scratch)/status")))
                let mountpoint = try #require(status.mountpoint)
                #expect(MountTable.entry(at: mountpoint) == nil)
                #expect(!Files.exists(mountpoint))
                #expect(!Files.exists(status.store), "the temporary store is left")
                // The process of the run may stay in the table for a moment.
                try eventually("no process left") { try processes().isEmpty }
            }
            /// Returns the processes that were started under this run, which have its token in their environments.
            func processes() throws -> [String] {
                try Files.names(in: "/proc").filter { name in
                    guard Int(name) != nil, let environment = try? Files.content("/proc/\(name)/environ") else {
                        return false
                    }
                    return String(decoding: environment, as: UTF8.self).contains(token)
                }
            }
        }

        private func trace(_ body: (Trace) throws -> Void) throws {
            try Scratch.with("run") { try body(Trace($0.path)) }
        }

        @Test(arguments: [
            ("true", 0), ("exit 7", 7), ("false", 1), ("kill -9 $$", 137), ("kill -TERM $$", 143),
            ("kill -INT $$", 130),
            ("kill -SEGV $$", 139), ("exec /nonexistent/program 2>/dev/null", 127),
            ("cd $HOME/Documents && head -c 1000000 /dev/zero > big", 0),
        ])
        func endsOfTheCommand(script: String, status: Int32) throws {
            try trace { trace in
                try trace.start(script)
                let end = try trace.end()
                #expect(end.status == status, "\(end.errors)")
                try trace.checkNothingIsLeft()
            }
        }

        @Test(arguments: [SIGTERM, SIGINT, SIGHUP]) func signalsArePassedOn(signal: Int32) throws {
            try trace { trace in
                try trace.start("exec sleep 1000")
                try trace.waitForNote()
                trace.child?.signal(signal)
                #expect(try trace.end().status == 128 + signal)
                try trace.checkNothingIsLeft()
            }
        }

        /// A signal to the run also ends a command that has stopped, although a stopped process handles no signal until it
        /// continues.
        @Test func aCommandThatHasStopped() throws {
            try trace { trace in
                try trace.start("echo $$ > $OUT/pid; kill -STOP $$")
                try trace.waitForNote("pid")
                let pid = Files.text("\(trace.scratch)/pid").filter { $0 != "\n" }
                try eventually("a command that has stopped") {
                    Files.text("/proc/\(pid)/stat").split(separator: ") ").last?.first == "T"
                }
                trace.child?.signal(SIGTERM)
                #expect(try trace.end().status == 128 + SIGTERM)
                try trace.checkNothingIsLeft()
            }
        }

        /// The signal goes to all processes of the group at once, as a terminal sends it.
        @Test func interruptFromTheTerminal() throws {
            try trace { trace in
                try trace.start("exec sleep 1000")
                try trace.waitForNote()
                trace.child?.signalGroup(SIGINT)
                #expect(try trace.end().status == 130)
                try trace.checkNothingIsLeft()
            }
        }

        @Test func aCommandThatHandlesTheSignal() throws {
            try trace { trace in
                try trace.start(
                    "trap 'echo saved > $OUT/saved; exit 5' TERM; echo x > $OUT/ready; while :; do sleep 0.05; done")
                try trace.waitForNote("ready")
                trace.child?.signal(SIGTERM)
                #expect(try trace.end().status == 5)
                #expect(Files.text("\(trace.scratch)/saved") == "saved\n")
                try trace.checkNothingIsLeft()
            }
        }

        /// A run does not keep its events in memory. Each event of this test has a path of about a thousand bytes.
        @Test func manyEventsAreNotKept() throws {
            let run = try Program.run(
                [PurgefsBinary.path, "run", "--", Program.python, "-c", Self.manyEvents], timeout: 120)
            let peaks = try run.succeeded().split(separator: " ").compactMap { Int($0.filter(\.isNumber)) }
            try #require(peaks.count == 2, "\(run)")
            #expect(peaks[1] - peaks[0] < 14_000, "KiB: \(peaks)")
        }

        /// Prints the peak memory of `purgefs run` before and after 24,000 events of more than 1 KiB each.
        private static let manyEvents = """
            import os
            def peak():
                lines = open(f"/proc/{os.getppid()}/status").read().splitlines()
                return next(line.split()[1] for line in lines if line.startswith("VmHWM"))
            os.chdir(os.environ["HOME"] + "/Documents")
            for _ in range(4):
                os.mkdir("d" * 250)
                os.chdir("d" * 250)
            open("f", "w").close()
            def mark(count):
                for _ in range(count):
                    os.setxattr("f", "user.purgefs.isExcludedFromBackup", b"1")
                    os.removexattr("f", "user.purgefs.isExcludedFromBackup")
            mark(500)
            before = peak()
            mark(12000)
            print(before, peak())
            """

        /// A reader of the pipe that stops reading loses events, but does not keep the run from ending.
        @Test func aReaderOfEventsThatStops() throws {
            try trace { trace in
                let pipe = "\(trace.scratch)/pipe"
                try #require(mkfifo(pipe, 0o600) == 0)
                let reader = try FileDescriptor.open(pipe, O_RDWR | O_NONBLOCK)
                let store = "\(trace.scratch)/store"
                try trace.start(
                    "cd $HOME/Library/Caches; seq 1000 | while read n; do echo > $n; done; echo all > ../../.purgefs/storage.reclaim",
                    options: ["--events", pipe, "--store", store])
                let end = try trace.end()
                #expect(end.status == 125)
                var text: [UInt8] = []
                while try System.waitReadable(reader.raw, milliseconds: 0) { text += try reader.readSome(4096) }
                let lines = text.split(separator: 10)
                let all = try PurgefsBinary.run("events", store, "--json").succeeded().split(separator: "\n")
                #expect(lines.count > 100 && all.count > 1000)
                let read = lines.map { String(decoding: $0, as: UTF8.self) }
                #expect(read == all.prefix(lines.count).map { String($0) })
                let said = "the events are incomplete: \(pipe): the reader stopped reading"
                let missing = "the last \(all.count - lines.count) events are missing\n"
                #expect(end.errors.contains("\(said); \(missing)"), "\(end.errors)")
            }
        }

        /// The run exits with 125 and leaves nothing, because a stopped daemon cannot report how much the container holds.
        @Test func aDaemonThatHasStopped() throws {
            try trace { trace in
                try trace.start("echo > $OUT/ready; while [ ! -e $OUT/go ]; do sleep 0.05; done")
                try trace.waitForNote("ready")
                let daemons = try trace.processes().filter { name in
                    Files.commandLine(of: name).contains(" mount --foreground ")
                }
                let daemon = try #require(daemons.compactMap { pid_t($0) }.first)
                kill(daemon, SIGSTOP)
                try Files.write("", to: "\(trace.scratch)/go")
                let end = try trace.end()
                #expect(end.status == 125 && end.errors.contains("the daemon did not answer"), "\(end)")
                #expect(end.errors.contains("process \(daemon)\n"), "\(end)")
                try trace.checkNothingIsLeft()
            }
        }

        /// The run reports the daemon's end although a killed daemon ends a little after its mount is gone, and the command may
        /// end in between.
        @Test func aDaemonKilledAtTheLastMoment() throws {
            let script = """
                for each in $(cat /proc/$PPID/task/$PPID/children); do [ $each = $$ ] || kill -KILL $each; done
                $1 exit 0
                """
            let late = #"while [ -e "$PURGEFS_MOUNT/.purgefs/status.json" ]; do :; done;"#
            for number in 0..<20 {
                let run = try PurgefsBinary.run(
                    "run", "--quiet", "--total", "64M", "--", "sh", "-c",
                    script.replacingOccurrences(of: "$1", with: number % 2 == 0 ? "" : late))
                #expect(run.status == 125, "\(run)")
                #expect(run.errors.contains("the container is gone"), "\(run)")
                #expect(run.errors.contains("its daemon was killed by signal 9\n"), "\(run)")
            }
        }

        @Test func killOfTheCommandFromOutside() throws {
            try trace { trace in
                try trace.start("echo $$ > $OUT/pid.part; mv $OUT/pid.part $OUT/pid; exec sleep 1000")
                try trace.waitForNote("pid")
                let pid = try #require(pid_t(Files.text("\(trace.scratch)/pid").dropLast()))
                kill(pid, SIGKILL)
                #expect(try trace.end().status == 137)
                try trace.checkNothingIsLeft()
            }
        }

        /// A process that the command has left behind has a file open in the container. The run unmounts it
        /// nevertheless.
        @Test func aBackgroundProcessOfTheCommand() throws {
            try trace { trace in
                try trace.start("(exec sleep 1000 > $TMPDIR/open 2>&1 & echo $! > $OUT/pid); exit 3")
                #expect(try trace.end().status == 3)
                let pid = try #require(pid_t(Files.text("\(trace.scratch)/pid").dropLast()))
                kill(pid, SIGKILL)
                try trace.checkNothingIsLeft()
            }
        }

        @Test func startsInTheContainer() throws {
            let here = try Program.run(
                PurgefsBinary.path, "run", "--quiet", "--chdir", "--", "sh", "-c", "pwd; echo $HOME")
            let lines = try here.succeeded().split(separator: "\n")
            #expect(lines.count == 2 && lines.first == lines.last)
            let script = "printf '#!/bin/sh\necho found\n' > prog; chmod +x prog; exec ./prog"
            let found = try Program.run(PurgefsBinary.path, "run", "--quiet", "--chdir", "--", "sh", "-c", script)
            #expect(try found.succeeded() == "found\n")
        }

        /// The status is 123 if a named event has occurred, and COMMAND's own status if COMMAND has failed.
        @Test(arguments: [
            ("purged", "true", 123), ("refused", "true", 0), ("refused,purged", "true", 123), ("purged", "exit 7", 7),
            ("purged --fail-on refused", "true", 123),
        ]) func failsOnEvents(events: String, last: String, status: Int32) throws {
            try Scratch.with("run") { scratch in
                let summary = "\(scratch.path)/summary.json"
                let script = """
                    echo off > $PURGEFS_MOUNT/.purgefs/storage.thresholds || exit 3
                    head -c 900K /dev/zero > ~/Library/Caches/cached || exit 1
                    head -c 900K /dev/zero > ~/Documents/kept || exit 2
                    \(last)
                    """
                let outcome = try Program.run(
                    [PurgefsBinary.path, "run", "--total", "1M", "--fail-on"]
                        + events.split(separator: " ").map(String.init)
                        + ["--summary", summary, "--", "sh", "-c", script])
                #expect(outcome.status == status, "\(outcome)")
                #expect(
                    outcome.errors.contains("--fail-on purged: 1 event, the first of Library/Caches/cached")
                        == events.contains("purged"))
                let content = try JSONSerialization.jsonObject(with: Data(try Files.content(summary))) as? [String: Any]
                let purged = content?["purged"] as? [String: Any]
                #expect(purged?["files"] as? Int == 1 && purged?["bytes"] as? Int == 921_600)
                #expect((purged?["byReason"] as? [String: Int]) == ["caches": 921_600])
                #expect(content?["status"] as? Int == (last == "true" ? 0 : 7))
                #expect((content?["events"] as? [String: Int])?["purge"] == 1)
                #expect((content?["storage"] as? [String: Any])?["used"] as? Int == 921_600)
            }
        }

        /// A purge of others.purgeable takes nothing from this app, so `--fail-on purged` does not count it.
        @Test func doesNotFailOnPurgesOfOthers() throws {
            let outcome = try Program.run(
                PurgefsBinary.path, "run", "--total", "10M", "--others", "5M", "--others-purgeable", "5M", "--fail-on",
                "purged", "--", "sh", "-c", "head -c 8M /dev/zero > ~/Documents/kept")
            #expect(outcome.status == 0, "\(outcome)")
            #expect(outcome.errors.contains(" others)") && !outcome.errors.contains("--fail-on"), "\(outcome)")
        }

        @Test func demandsThatCannotBeMet() throws {
            for (words, status, message) in [
                (["--fail-on", "purge"], Int32(64), "'purge' is not one of refused, purged"),
                (["--fail-on", ""], 64, "is not one of"),
                (["--summary", "/nowhere/s.json"], 125, "mkdir -p /nowhere"),
                (["--summary", "/tmp"], 125, "Name a file in it: /tmp/summary.json"),
                (["--summary", "/tmp/same", "--events", "/tmp/same"], 64, "name the same file"),
            ] {
                let outcome = try Program.run([PurgefsBinary.path, "run"] + words + ["--", "true"])
                #expect(outcome.status == status && outcome.errors.contains(message), "\(outcome)")
            }
        }

        /// The run removes its store although a background process keeps making folders where the container was mounted.
        @Test func aBackgroundProcessThatGoesOnToMakeFolders() throws {
            try trace { run in
                try run.start(
                    """
                    mkdir "$HOME/Library/x"
                    (trap '' TERM HUP
                     for each in $(seq 300); do mkdir -p "$HOME/Library/x"; sleep 0.004; done) >/dev/null 2>&1 &
                    sleep 0.1
                    """, options: ["--quiet"])
                #expect(try run.end().status == 0)
                let status = try JSONDecoder().decode(
                    MountStatus.self, from: Data(try Files.content("\(run.scratch)/status")))
                #expect(!Files.exists(status.store), "the temporary store is left")
                try eventually("no process left") { try run.processes().isEmpty }
                // The process may have created folders after the end of the run, which does not remove them.
                let mountpoint = try #require(status.mountpoint).split(separator: "/")
                let area = "/" + mountpoint.dropLast(4).joined(separator: "/")
                if Files.exists(area) { try Program.run("rm", "-r", area).succeeded() }
            }
        }

        /// A process may make a mount namespace during the run. Its copy of the mount must not keep the daemon running.
        @Test func aMountNamespaceThatOutlivesTheCommand() throws {
            let run = try PurgefsBinary.run(
                "run", "--quiet", "--", "sh", "-c",
                """
                unshare -m sleep 100 > /dev/null 2>&1 & echo $!
                while [ "$(readlink /proc/$!/ns/mnt)" = "$(readlink /proc/$$/ns/mnt)" ]; do :; done
                exit 5
                """)
            if let pid = pid_t(run.output.dropLast()) { kill(pid, SIGKILL) }
            #expect(run.status == 5 && run.errors == "", "\(run)")
        }

        @Test func commandsThatCannotRun() throws {
            try Scratch.with("run") { scratch in
                try Files.write("#!/bin/sh\n", to: "\(scratch.path)/plain")
                #expect(try PurgefsBinary.run("run", "--", "\(scratch.path)/plain").status == 126)
                #expect(try PurgefsBinary.run("run", "--", scratch.path).status == 126)
                #expect(try PurgefsBinary.run("run", "--", "\(scratch.path)/none").status == 127)
                #expect(try PurgefsBinary.run("run", "--", "no-such-program-anywhere").status == 127)
            }
        }

        @Test func environmentAndPlaces() throws {
            try trace { trace in
                try trace.start(
                    "env > $OUT/env; pwd > $OUT/pwd; ls -1A $HOME > $OUT/ls; ls -1A $HOME/Library > $OUT/library")
                #expect(try trace.end().status == 0)
                let lines = Files.text("\(trace.scratch)/env").split(separator: "\n").map {
                    $0.split(separator: "=", maxSplits: 1)
                }
                let environment = Dictionary(lines.filter { $0.count == 2 }.map { (String($0[0]), String($0[1])) }) {
                    $1
                }
                let home = try #require(environment["HOME"])
                let parts = home.split(separator: "/").suffix(4)
                #expect(parts.dropLast() == ["Containers", "Data", "Application"])
                #expect(UUID(uuidString: parts.last.map(String.init) ?? "") != nil)
                #expect(environment["CFFIXED_USER_HOME"] == home && environment["PURGEFS_MOUNT"] == home)
                #expect(environment["TMPDIR"].map { $0.hasPrefix("\(home)/tmp") } == true)
                #expect(environment["XDG_CACHE_HOME"] == "\(home)/Library/Caches")
                #expect(environment["XDG_DATA_HOME"]?.hasPrefix("\(home)/") == true)
                #expect(environment["XDG_CONFIG_HOME"]?.hasPrefix("\(home)/") == true)
                #expect(Files.text("\(trace.scratch)/pwd") == FileManager.default.currentDirectoryPath + "\n")
                #expect(Files.text("\(trace.scratch)/ls") == "Documents\nLibrary\ntmp\n")
                #expect(Files.text("\(trace.scratch)/library") == "Application Support\nCaches\nPreferences\n")
                try trace.checkNothingIsLeft()
            }
        }

        @Test func optionsAndAKeptStore() throws {
            try trace { trace in
                let store = "\(trace.scratch)/store"
                let options = ["--store", store, "--total", "1M", "--others", "64K"]
                try trace.start(
                    "cat $PURGEFS_MOUNT/.purgefs/storage.available > $OUT/available; echo kept > $HOME/Documents/f",
                    options: options)
                #expect(try trace.end().status == 0)
                #expect(Files.text("\(trace.scratch)/available") == "983040\n")
                #expect(Files.text("\(store)/container/Documents/f") == "kept\n")
                let again = try PurgefsBinary.run(
                    "run", "--store", store, "--", "sh", "-c",
                    "cat $HOME/Documents/f $PURGEFS_MOUNT/.purgefs/storage.total")
                #expect(again.output == "kept\n1048576\n" && again.status == 0)
            }
        }

        /// The summary has the numbers of the device at the end.
        @Test func summaryOfTheDevice() throws {
            let result = try PurgefsBinary.run(
                "run", "--total", "64M", "--others", "20M", "--", "sh", "-c",
                "head -c 4194304 /dev/zero > $HOME/Documents/f")
            #expect(
                result.errors.contains("used 4.0 MiB, others 20.0 MiB, free 40.0 MiB of 64.0 MiB"), "\(result.errors)")
        }

        /// The summary goes to standard error and leaves the command's own output alone.
        @Test func summary() throws {
            let loud = try PurgefsBinary.run("run", "--", "echo", "out")
            #expect(loud.output == "out\n" && !loud.errors.isEmpty && loud.status == 0)
            let quiet = try PurgefsBinary.run("run", "--quiet", "--", "echo", "out")
            #expect(quiet.output == "out\n" && quiet.errors.isEmpty && quiet.status == 0)
        }
    }
}
