import Glibc
import Support
import Testing

extension Mounts {
    /// A daemon that crashes leaves its last words in its log and in the store.
    @Suite struct LastWordsTests {
        /// Sends the signal to `thread` of the daemon. The notifier is tested because it has its own descriptor table.
        @Test(arguments: [(SIGSEGV, "worker"), (SIGILL, "notifier"), (SIGBUS, "journal"), (SIGTRAP, "purgefs")])
        func theDaemonDies(signal: Int32, thread: String) throws {
            try withMount(mounted: false) { mount in
                let log = "\(mount.scratch)/log"
                try PurgefsBinary.run("mount", "--total", "64M", "--log", log, mount.store, mount.root).succeeded()
                try mount.make("Documents/f", size: 5000)
                let pid = try daemon(of: mount)
                // A new thread has the main thread's name until it runs and names itself.
                var found = thread == "purgefs" ? Int(pid) : nil
                try eventually("a thread \(thread)") {
                    if found != nil { return true }
                    found = try Files.names(in: "/proc/\(pid)/task").first {
                        Files.text("/proc/\(pid)/task/\($0)/comm").hasPrefix(thread)
                    }.flatMap { Int($0) }
                    return found != nil
                }
                let id = try #require(found)
                try Program.run(Program.python, "-c", Self.killThread, "\(pid)", "\(id)", "\(signal)").succeeded()
                try eventually("its end") { !Files.exists("/proc/\(pid)") }
                let words = "fatal: signal \(signal) "
                #expect(Files.text(log).contains(words) && Files.text(log).contains("thread \(thread)"))
                #expect(Files.text("\(mount.store)/last-words.txt").contains(words))
                try PurgefsBinary.run("unmount", mount.root).succeeded()
                // Only the next mount reports the crash.
                let next = try PurgefsBinary.run("mount", mount.store, mount.root)
                #expect(next.status == 0 && next.errors.contains(words), "\(next)")
                #expect(try Files.size(mount.path("Documents/f")) == 5000)
                try PurgefsBinary.run("unmount", mount.root).succeeded()
                let last = try PurgefsBinary.run("mount", mount.store, mount.root)
                #expect(last.status == 0 && last.errors == "", "\(last)")
                try PurgefsBinary.run("unmount", mount.root).succeeded()
            }
        }

        /// Calls tgkill(2), which Glibc's Swift module lacks.
        private static let killThread = """
            import ctypes, platform, sys
            number = 131 if platform.machine() == "aarch64" else 234
            sys.exit(ctypes.CDLL(None).syscall(number, *map(int, sys.argv[1:])) != 0)
            """

        private func daemon(of mount: TestMount) throws -> pid_t {
            let pids = try Files.names(in: "/proc").compactMap { pid_t($0) }
            return try #require(
                pids.first { Files.commandLine(of: "\($0)").hasSuffix(" \(mount.store) \(mount.root)") })
        }
    }
}
