import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// The kernel holds the lock of the file that is being written, and another call that of the purged
    /// files' folder, waiting for the file.
    @Suite struct DeadlockTests {
        /// For one call at a time, its four partners on a mount each.
        @Test(arguments: ["write", "copy", "fallocate", "fsync", "truncate"])
        func purgingBesideWhatHoldsTheFolder(call: String) throws {
            let late = Tally()
            let partners = ["over", "of", "unlink", "link"]
            try Workers.run(partners.count) { index in
                try withMount(deadline: 60 + Double(Scale.of(60))) { mount in
                    try mount.turnThresholdsOff()
                    let rounds = Scale.of(60)
                    let output = try Program.run(
                        [
                            Program.python, "\(Self.programs)/deadlock.py", mount.root, partners[index], call,
                            "\(rounds)",
                        ], timeout: 55 + Double(rounds)
                    ).succeeded()
                    late.add(Int(output.split(separator: "\n").last ?? "") ?? 0)
                }
            }
            // The calls have met.
            #expect(late.value > 0)
        }

        /// Nothing in the container waits for what is mounted there and does not answer.
        @Test func purgingBelowAMountThatHangs() throws {
            try withMount(deadline: 60) { mount in
                let inner = mount.path("Library/Caches/inner")
                try mount.makeDirectory("Library/Caches/inner")
                let below = try OpenFile(inner, O_RDONLY | O_DIRECTORY)
                // It is refused in here, so it comes as a bind mount.
                let elsewhere = "\(mount.scratch)/elsewhere"
                try Files.makeDirectory(elsewhere)
                let daemon = try Program.start([
                    PurgefsBinary.path, "mount", "--foreground", "\(mount.scratch)/inner", elsewhere,
                ])
                defer {
                    daemon.signal(SIGKILL)
                    for place in [inner, elsewhere] { _ = try? Program.run("umount", "-l", place) }
                }
                try eventually("another mount") { MountTable.entry(at: elsewhere) != nil }
                try Program.run("mount", "--bind", elsewhere, inner).succeeded()
                try System.makeDirectory(at: below.descriptor, "sub", mode: 0o755)
                System.close(try System.open(at: below.descriptor, "sub/f", O_WRONLY | O_CREAT, mode: 0o644))
                below.close()
                daemon.signal(SIGSTOP)
                let purge = try Program.start(["sh", "-c", "echo caches > '\(mount.control("storage.reclaim"))'"])
                #expect(try purge.wait(within: 20) == 0)
                #expect(!Files.exists("\(mount.store)/container/Library/Caches/inner/sub/f"))
                // Later calls do not find what is below it.
                daemon.signal(SIGKILL)
                try daemon.wait(within: 10)
                try Program.run("umount", inner).succeeded()
                #expect(!mount.exists("Library/Caches/inner/sub/f"))
                #expect(try Files.names(in: "\(inner)/sub") == [])
            }
        }

        /// Nothing is asked of it, also at the first one.
        @Test func closingAControlFileOfADaemonThatWasStopped() throws {
            try Scratch.with("close") { scratch in
                let place = "\(scratch.path)/m"
                try Files.makeDirectory(place)
                let daemon = try Program.start([
                    PurgefsBinary.path, "mount", "--foreground", "\(scratch.path)/s", place,
                ])
                defer {
                    daemon.signal(SIGKILL)
                    _ = try? Program.run("umount", "-l", place)
                }
                try eventually("the mount") { MountTable.entry(at: place) != nil }
                let script = """
                    import os, signal, sys
                    daemon = int(sys.argv[2])
                    file = os.open(sys.argv[1] + "/.purgefs/events", os.O_RDONLY)
                    os.kill(daemon, signal.SIGSTOP)
                    while open(f"/proc/{daemon}/stat").read().rpartition(")")[2].split()[0] != "T": pass
                    os.close(file)
                    """
                let closing = try Program.start(["python3", "-c", script, place, "\(daemon.pid)"])
                #expect(try closing.wait(within: 20) == 0)
            }
        }

        /// A control file that is written is locked as any other file is.
        @Test func purgingByACommandBesideARenameOverTheControlFile() throws {
            try withMount(deadline: 60) { mount in
                try mount.turnThresholdsOff()
                for _ in 0..<10 {
                    for name in 0..<50 { try mount.make("tmp/f\(name)", size: 1) }
                    try mount.make("tmp/new", size: 1)
                    let held = try OpenFile(mount.path("tmp/new"), O_RDONLY)
                    let purge = try Program.start(["sh", "-c", "echo tmp > '\(mount.control("storage.reclaim"))'"])
                    try eventually("a purge under way") { !mount.exists("tmp/f0") }
                    #expect(throws: (any Error).self) {
                        try Files.rename(mount.path("tmp/new"), mount.control("storage.reclaim"))
                    }
                    #expect(try purge.wait(within: 20) == 0)
                    held.close()
                }
            }
        }

        /// kill -9 while the kernel is being told about purged names, with programs in their folders: each gets its
        /// error, and nothing is left of the mount.
        @Test func killedWhilePurging() throws {
            try withMount(deadline: 60 + 10 * Double(Scale.of(10)), mounted: false) { mount in
                var random = SeededGenerator(seed: 1)
                for _ in 0..<Scale.of(10) {
                    try fill(mount)
                    try mount.mount(["--total", "512M"])
                    let users = try startUsers(mount)
                    let purge = try Program.start(["sh", "-c", "echo caches > '\(mount.control("storage.reclaim"))'"])
                    usleep(UInt32(random.below(700_000)))  // any moment of the purge, and before it
                    try mount.kill()
                    for user in users + [purge] { _ = try user.wait(within: 20) }
                    for user in users {
                        #expect(Self.lost.contains(user.output.filter { $0 != "\n" }), "\(user.output) \(user.errors)")
                    }
                    try Program.run("fusermount3", "-u", mount.root, timeout: 30).succeeded()
                    #expect(MountTable.entry(at: mount.root) == nil)
                }
                try mount.mount()
                #expect(try Files.chargedTree(mount.root) == mount.number("storage.used"))
            }
        }

        /// What the kernel says when a connection has ended: before a call, amid one, and of a page that was being read.
        private static let lost: Set = ["ENOTCONN", "ECONNABORTED", "EIO"]

        /// Ten folders of a thousand files, of which earlier rounds have left some.
        private func fill(_ mount: TestMount) throws {
            if !Files.exists(mount.store) {
                try mount.mount()
                try mount.unmount()
            }
            let script = """
                for d in range(10):
                    f = f"Library/Caches/{d}"
                    os.makedirs(f, exist_ok=True)
                    for n in range(1000):
                        fd = os.open(f"{f}/f{n}", os.O_WRONLY | os.O_CREAT)
                        if n % 4 == 0 and os.fstat(fd).st_size == 0: os.write(fd, b"x")
                        os.close(fd)
                """
            try Program.run(
                [Program.python, "-c", "import os\n" + script], in: "\(mount.store)/container"
            ).succeeded()
        }

        private func startUsers(_ mount: TestMount) throws -> [ChildProcess] {
            try ["ls", "read", "unlink", "rename", "create", "ls", "read", "unlink"].enumerated().map { index, manner in
                try Program.start([
                    Program.python, "\(Self.programs)/kill_user.py", mount.path("Library/Caches/\(index % 3)"), manner,
                ])
            }
        }

        private static let programs = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Programs").path
    }
}
