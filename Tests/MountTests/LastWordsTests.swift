import Glibc
import Support
import Testing

extension Mounts {
    /// A daemon that dies by a fault of its own says so in its log and in the store.
    @Suite struct LastWordsTests {
        /// `thread` of the daemon gets the signal; the notifier has a descriptor table of its own.
        @Test(arguments: [(SIGSEGV, "worker"), (SIGILL, "notifier"), (SIGBUS, "journal"), (SIGTRAP, "purgefs")])
        func theDaemonDies(signal: Int32, thread: String) throws {
            try withMount(mounted: false) { mount in
                let log = "\(mount.scratch)/log"
                try PurgefsBinary.run("mount", "--total", "64M", "--log", log, mount.store, mount.root).succeeded()
                try mount.make("Documents/f", size: 5000)
                let pid = try daemon(of: mount)
                // A thread gives itself its name once it runs, and has that of the main thread until then.
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
                // The next one says it, once.
                let next = try PurgefsBinary.run("mount", mount.store, mount.root)
                #expect(next.status == 0 && next.errors.contains(words), "\(next)")
                #expect(try Files.size(mount.path("Documents/f")) == 5000)
                try PurgefsBinary.run("unmount", mount.root).succeeded()
                let last = try PurgefsBinary.run("mount", mount.store, mount.root)
                #expect(last.status == 0 && last.errors == "", "\(last)")
                try PurgefsBinary.run("unmount", mount.root).succeeded()
            }
        }

        /// tgkill(2), which Swift does not have.
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
