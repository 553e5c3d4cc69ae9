import Foundation
import Support
import Testing

extension Mounts {
    /// The reports that `purgefs run` makes about its container at the end, and the store that it leaves.
    @Suite struct RunEndTests {
        private struct Summary: Decodable {
            struct Purged: Decodable { var files: Int }
            var purged: Purged
            var events: [String: Int]
            var storage: [String: Int]?
        }

        private func summary(_ options: [String], _ command: String, in scratch: Scratch) throws -> Summary {
            let file = "\(scratch.path)/summary.json"
            try Program.run(
                [PurgefsBinary.path, "run", "--quiet", "--summary", file] + options
                    + ["--", "sh", "-c", command],
                in: scratch.path, environment: ["P": PurgefsBinary.path, "OUT": scratch.path], timeout: 120
            ).succeeded()
            return try JSONDecoder().decode(Summary.self, from: Data(try Files.content(file)))
        }

        /// A read-only run changes nothing in the store. It does not launch the app, because a launch carries out the
        /// policies of directories.
        @Test func ofAStoreThatIsMountedReadOnly() throws {
            try Scratch.with("end") { scratch in
                let store = "\(scratch.path)/store"
                let folder = "$HOME/Library/Caches/p"
                _ = try summary(
                    ["--store", store],
                    "mkdir \(folder); for i in 1 2 3; do echo $i > \(folder)/$i; done; $P policy add \(folder) --after 1s",
                    in: scratch)
                try PurgefsBinary.run("clock", "advance", "2s", store).succeeded()
                let before = Files.text("\(store)/device.json")
                let told = try summary(
                    ["--store", store, "-o", "ro"], "cat $PURGEFS_MOUNT/.purgefs/app.state > $OUT/state", in: scratch)
                #expect(told.purged.files == 0 && Files.text("\(scratch.path)/state") == "terminated\n")
                #expect(try Files.names(in: "\(store)/container/Library/Caches/p").sorted() == ["1", "2", "3"])
                #expect(Files.text("\(store)/device.json") == before && !before.isEmpty)
                // A writable run purges the three files at launch, beside COMMAND.
                #expect(try summary(["--store", store], "$P policy check", in: scratch).purged.files == 3)
            }
        }

        /// A run whose daemon ends during the launch never starts COMMAND, exits with 125, and leaves nothing. strace stops the
        /// daemon at its first write to the journal, because the launch waits until its event is recorded.
        @Test(arguments: [SIGKILL, SIGTERM]) func ofADaemonThatEndsDuringTheLaunch(signal: Int32) throws {
            try Scratch.with("end") { scratch in
                let (store, temporary) = ("\(scratch.path)/store", "\(scratch.path)/t")
                try Files.makeDirectory(temporary)
                _ = try summary(["--store", store], ":", in: scratch)
                let run = try Program.start(
                    [
                        "strace", "-f", "-o", "\(scratch.path)/trace", "-P", "\(store)/journal.sqlite", "-e",
                        "trace=pwrite64", "-e", "inject=pwrite64:signal=STOP:when=1", PurgefsBinary.path, "run",
                        "--quiet", "--store", store, "--", "touch", "\(scratch.path)/began",
                    ], environment: ["TMPDIR": temporary])
                defer { run.signalGroup(SIGKILL) }
                let daemon = try stoppedDaemon(of: run.pid, trace: "\(scratch.path)/trace")
                kill(daemon, signal)
                // strace stops the daemon again when another thread writes to the journal for the first time.
                try eventually("the end of the daemon") { kill(daemon, SIGCONT) != 0 }
                #expect(try run.wait(within: 60) == 125, "\(run.errors)")
                #expect(!Files.exists("\(scratch.path)/began"))
                #expect(try Files.names(in: temporary) == [])
                #expect(!Files.text("/proc/self/mounts").contains(temporary))
            }
        }

        /// The process that strace has stopped. strace fails if a signal ends a thread between its stop and strace's answer to
        /// it, so this waits until all threads have stopped and strace is in wait4(2), call 61.
        private func stoppedDaemon(of strace: pid_t, trace: String) throws -> pid_t {
            var daemon: pid_t?
            try eventually("a daemon whose threads have all stopped") {
                let stopped = Files.text(trace).split(separator: "\n").filter { $0.contains("stopped by SIGSTOP") }
                    .compactMap { $0.split(separator: " ").first }
                guard let thread = stopped.first else { return false }
                daemon = Files.text("/proc/\(thread)/status").firstMatch(of: #/Tgid:\t([0-9]+)/#).flatMap {
                    pid_t($0.1)
                }
                let threads = try daemon.map { try Files.names(in: "/proc/\($0)/task") }
                return threads.map { Set($0).isSubset(of: stopped.map(String.init)) } == true
                    && Files.text("/proc/\(strace)/syscall").hasPrefix("61 ")
            }
            return try #require(daemon)
        }

        private static let slowReader = """
            import os, sys, time
            pipe = os.open(sys.argv[1], os.O_RDONLY)
            with open(sys.argv[2], "wb") as file:
                while piece := os.read(pipe, 32768):
                    file.write(piece)
                    time.sleep(0.25)
            """

        /// At the end, `purgefs run` gives up on a reader that accepts nothing for a while. A slow reader gets all events,
        /// however long the last ones take.
        @Test(arguments: [[], ["--store", "store"]]) func withASlowReaderOfEvents(options: [String]) throws {
            try Scratch.with("end") { scratch in
                let (pipe, file) = ("\(scratch.path)/pipe", "\(scratch.path)/events")
                try Program.run("mkfifo", pipe).succeeded()
                let reader = try Program.start(["python3", "-c", Self.slowReader, pipe, file])
                let told = try summary(
                    options + ["--events", pipe],
                    "cd $HOME/tmp; for i in $(seq 3500); do echo > f$i; done; echo tmp > $PURGEFS_MOUNT/.purgefs/storage.reclaim",
                    in: scratch)
                #expect(told.purged.files == 3500 && told.events["unmount"] == 1 && told.events["app"] == 2, "\(told)")
                #expect(told.storage != nil)
                #expect(try reader.wait(within: 60) == 0)
                let lines = Files.text(file).split(separator: "\n")
                #expect(lines.count { $0.contains("\"type\":\"purge\"") } == 3500)
                #expect(lines.last?.contains("\"type\":\"unmount\"") == true)
            }
        }

        /// Only some of many refusals have their own event. Further events give the number of the others.
        @Test func withManyRefusals() throws {
            try Scratch.with("end") { scratch in
                let open = """
                    import os
                    for _ in range(500):
                        try: os.open(os.environ["HOME"] + "/Documents/a", os.O_RDONLY)
                        except PermissionError: pass
                    """
                let events = "\(scratch.path)/events"
                _ = try summary(
                    ["--protection", "complete", "--events", events],
                    "echo x > $HOME/Documents/a; $P device lock; $P clock advance 20s; exec python3 -c '\(open)'",
                    in: scratch)
                let denied = Files.text(events).split(separator: "\n").filter { $0.contains("protectionDenied") }
                let more = try denied.compactMap { line in
                    try #/"reason":"([0-9]+) more/#.firstMatch(in: line).flatMap { Int($0.1) }
                }
                #expect(!more.isEmpty && denied.count - more.count + more.reduce(0, +) == 500, "\(more)")
            }
        }

        /// A purge that the end of the app sets off counts in the summary of the run. Only 248 KiB are free, less than 5 %, so it
        /// takes even the caches of an app that has just been in the foreground.
        @Test func withAPurgeAtTheEndOfTheApp() throws {
            try Scratch.with("end") { scratch in
                let command = """
                    cd $HOME/Library/Caches; for i in 1 2 3 4 5 6 7 8; do head -c 1M /dev/zero > $i; done
                    $P set others=1800K
                    """
                for _ in 0..<5 {
                    let told = try summary(
                        ["--profile", "device", "--purge-latency", "0", "--total", "10M"], command, in: scratch)
                    #expect(told.purged.files == 8)
                }
            }
        }
    }
}
