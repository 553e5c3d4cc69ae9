import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// A signal during start-up ends the program with 128 plus the signal's number and leaves nothing behind.
    @Suite struct InterruptTests {
        private static let program =
            URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Programs/interrupts.py").path

        /// PURGEFS_TEST_SCALE=15 sends 300 signals to each of the three commands.
        @Test func anyMomentOfAStart() throws {
            try Scratch.with("interrupts") { scratch in
                let words = [Program.python, Self.program, PurgefsBinary.path, scratch.path, "\(Scale.of(20))"]
                print(try Program.run(words, timeout: 60 + 600 * Scale.factor).succeeded())
            }
        }

        /// The stopped `mount` does not know yet that its daemon is ready, so the signal counts as sent before the mount was
        /// ready.
        @Test(arguments: [SIGINT, SIGTERM]) func mountOfADaemonThatIsReady(signal: Int32) throws {
            try withMount(mounted: false) { mount in
                let log = "\(mount.scratch)/log"
                try #require(mkfifo(log, 0o600) == 0)
                let child = try Program.start([PurgefsBinary.path, "mount", "--log", log, mount.store, mount.root])
                // The daemon waits for a reader of its log.
                try eventually("the daemon") { try daemon(of: mount) != nil }
                child.signal(SIGSTOP)
                let reader = try OpenFile(log, O_RDONLY | O_NONBLOCK)
                defer { reader.close() }
                try eventually("the mount") { Files.exists(mount.path(".purgefs")) }
                child.signal(signal)
                child.signal(SIGCONT)
                #expect(try child.wait(within: 20) == 128 + signal)
                #expect(child.errors == "purgefs: mount: interrupted; nothing is mounted\n")
                #expect(MountTable.entry(at: mount.root) == nil)
                #expect(try daemon(of: mount) == nil)
                #expect(!Files.exists(mount.store))
            }
        }

        /// strace stops the daemon right after it has mounted, so `mount` must kill it and remove the dead mount.
        @Test func mountOfADaemonThatMustBeKilled() throws {
            try withMount(deadline: 60, mounted: false) { mount in
                let traced = try Program.start(
                    [
                        "strace", "-f", "-o", "\(mount.scratch)/trace", "-e", "trace=eventfd2", "-e",
                        "inject=eventfd2:signal=STOP", PurgefsBinary.path, "mount", "-o", "transport=dev", mount.store,
                        mount.root,
                    ])
                defer { traced.signalGroup(SIGKILL) }
                try eventually("a daemon that has stopped") {
                    Files.text("\(mount.scratch)/trace").contains("stopped by SIGSTOP")
                }
                #expect(MountTable.entry(at: mount.root) != nil)
                let children = Files.text("/proc/\(traced.pid)/task/\(traced.pid)/children")
                let child = try #require(children.split(separator: " ").compactMap { pid_t($0) }.first)
                kill(child, SIGTERM)
                #expect(try traced.wait(within: 30) == 128 + SIGTERM)
                #expect(traced.errors.hasSuffix("purgefs: mount: interrupted; nothing is mounted\n"))
                #expect(MountTable.entry(at: mount.root) == nil)
            }
        }

        /// A daemon that is terminated during its scan ends early. If a parent process waits for it, the parent reports the
        /// signal. strace adds two milliseconds to each fstatat, so the scan of 10,000 files would take over 20 seconds.
        @Test func aLongScan() throws {
            try withMount(deadline: 120) { mount in
                try Program.shell(
                    "mkdir many && cd many && seq 10000 | xargs touch", in: mount.path("Documents")
                ).succeeded()
                try mount.unmount()
                let places = [mount.store, mount.root]
                try endScan(
                    of: mount, ["mount", "--foreground"] + places, status: 143, "interrupted; nothing is mounted")
                try endScan(of: mount, ["mount"] + places, status: 1, "the daemon was told to end by signal 15")
                try endScan(
                    of: mount, ["run", "--store", mount.store, "true"], status: 125,
                    "the daemon was told to end by signal 15")
                try mount.mount()
                #expect(try Files.names(in: mount.path("Documents/many")).count == 10000)
            }
        }

        private func endScan(of mount: TestMount, _ words: [String], status: Int32, _ message: String) throws {
            let slowed = try Program.start(
                [
                    "strace", "-f", "-o", "/dev/null", "-e", "trace=newfstatat", "-e",
                    "inject=newfstatat:delay_exit=2000", PurgefsBinary.path,
                ] + words)
            defer { slowed.signalGroup(SIGKILL) }
            try eventually("the scan") { try scanner(of: mount) != nil }
            kill(try #require(try scanner(of: mount)), SIGTERM)
            #expect(try slowed.wait(within: 20) == status, "\(words)")
            #expect(slowed.errors.contains(message), "\(words): \(slowed.errors)")
            #expect(MountTable.entry(at: mount.root) == nil)
        }

        /// Returns the daemon once it reads the large folder.
        private func scanner(of mount: TestMount) throws -> pid_t? {
            let large = "\(mount.store)/container/Documents/many"
            return try Files.names(in: "/proc").compactMap { pid_t($0) }.first { pid in
                Files.open(in: "\(pid)").contains { $0.hasSuffix(large) }
            }
        }

        /// Ignored signals stay ignored during start-up and clean-up, as in a script's background job or under `nohup`.
        @Test func ignoredSignals() throws {
            try Scratch.with("ignored") { scratch in
                let log = "\(scratch.path)/log"
                try #require(mkfifo(log, 0o600) == 0)
                // The process that COMMAND leaves behind keeps the container busy, and signals `run` once COMMAND has been
                // reaped.
                let command = """
                    (exec 9> $TMPDIR/open; while kill -0 $$ 2> /dev/null; do :; done; kill -INT $PPID; kill -HUP $PPID) &
                    """
                let run = try Program.start(
                    ["/bin/sh", "-c", "trap '' INT HUP QUIT; exec \"$@\"", "sh"]
                        + [PurgefsBinary.path, "run", "--log", log, "--", "/bin/sh", "-c", command])
                defer { run.signalGroup(SIGKILL) }
                // The daemon waits for a reader of the log.
                try eventually("the daemon") { Files.text("/proc/\(run.pid)/task/\(run.pid)/children") != "" }
                for signal in [SIGINT, SIGHUP, SIGQUIT] { run.signal(signal) }
                let reader = try OpenFile(log, O_RDONLY | O_NONBLOCK)
                defer { reader.close() }
                #expect(try run.wait(within: 30) == 0, "\(run.errors)")
                #expect(run.errors.contains("purged 0 files"), "\(run.errors)")
            }
        }

        @Test func eventsToAFIFOThatNobodyReads() throws {
            try Scratch.with("fifo") { scratch in
                let fifo = "\(scratch.path)/events"
                try #require(mkfifo(fifo, 0o600) == 0)
                let run = try Program.start([PurgefsBinary.path, "run", "--events", fifo, "--", "true"])
                defer { run.signalGroup(SIGKILL) }
                try eventually("its wait for a reader") { Files.text("/proc/\(run.pid)/wchan").contains("partner") }
                run.signal(SIGINT)
                #expect(try run.wait(within: 20) == 130)
            }
        }

        private func daemon(of mount: TestMount) throws -> pid_t? {
            try Files.names(in: "/proc").compactMap { pid_t($0) }.first {
                let words = Files.commandLine(of: "\($0)")
                return words.contains(" --foreground ") && words.hasSuffix(" \(mount.store) \(mount.root)")
            }
        }
    }
}
