import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// A program that is told to end while it starts ends, with 128 and the signal, and leaves nothing behind.
    @Suite struct InterruptTests {
        private static let program =
            URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Programs/interrupts.py").path

        /// PURGEFS_TEST_SCALE=15: every half millisecond, 300 times `run` and 300 times `mount`.
        @Test func anyMomentOfAStart() throws {
            try Scratch.with("interrupts") { scratch in
                let words = [Program.python, Self.program, PurgefsBinary.path, scratch.path, "\(Scale.of(20))"]
                print(try Program.run(words, timeout: 60 + 600 * Scale.factor).succeeded())
            }
        }

        /// `mount` has been stopped, so it does not know yet that its daemon is ready: it was told to end before.
        @Test(arguments: [SIGINT, SIGTERM]) func mountOfADaemonThatIsReady(signal: Int32) throws {
            try withMount(mounted: false) { mount in
                let log = "\(mount.scratch)/log"
                try #require(mkfifo(log, 0o600) == 0)
                let child = try Program.start([PurgefsBinary.path, "mount", "--log", log, mount.store, mount.root])
                // It waits for a reader of its log.
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

        /// strace makes each look at a file of the store take two milliseconds, so the scan would take most of a minute.
        @Test func aLongScan() throws {
            try withMount(deadline: 120) { mount in
                try Program.shell(
                    "mkdir many && cd many && seq 10000 | xargs touch", in: mount.path("Documents")
                ).succeeded()
                try mount.unmount()
                let slowed = try Program.start([
                    "strace", "-f", "-o", "/dev/null", "-e", "trace=newfstatat", "-e",
                    "inject=newfstatat:delay_exit=2000", PurgefsBinary.path, "mount", "--foreground", mount.store,
                    mount.root,
                ])
                defer { slowed.signalGroup(SIGKILL) }
                try eventually("the scan") { scanner(under: slowed) != nil }
                kill(try #require(scanner(under: slowed)), SIGTERM)
                #expect(try slowed.wait(within: 20) == 143)
                #expect(slowed.errors.contains("mount: interrupted; nothing is mounted"), "\(slowed.errors)")
                #expect(MountTable.entry(at: mount.root) == nil)
                try mount.mount()
                #expect(try Files.names(in: mount.path("Documents/many")).count == 10000)
            }
        }

        /// The daemon under strace, once it reads the large folder.
        private func scanner(under strace: ChildProcess) -> pid_t? {
            let children = Files.text("/proc/\(strace.pid)/task/\(strace.pid)/children").split(separator: " ")
            return children.compactMap { pid_t($0) }.first { child in
                let descriptors = (try? Files.names(in: "/proc/\(child)/fd")) ?? []
                return descriptors.contains { name in
                    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(child)/fd/\(name)"))?
                        .hasSuffix("/Documents/many") == true
                }
            }
        }

        private func daemon(of mount: TestMount) throws -> pid_t? {
            try Files.names(in: "/proc").compactMap { pid_t($0) }.first {
                let words = Files.text("/proc/\($0)/cmdline")
                return words.contains("--foreground") && words.hasSuffix("\(mount.store)\0\(mount.root)\0")
            }
        }
    }
}
