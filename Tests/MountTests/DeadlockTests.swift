import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Deadlocks that a purge must not cause: the kernel holds the lock of the file being written, while another call holds the
    /// lock of the victims' folder and waits for that file.
    @Suite struct DeadlockTests {
        /// Runs `call` beside each of four calls that hold the folder's lock, all four pairs at the same time, each on its own
        /// mount.
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
            // At least one answer came before its purge was announced, so the call overlapped with its partner.
            #expect(late.value > 0)
        }

        /// A purge does not wait for a hung file system that is mounted inside the container.
        @Test func purgingBelowAMountThatHangs() throws {
            try withMount(deadline: 60) { mount in
                let inner = mount.path("Library/Caches/inner")
                try mount.makeDirectory("Library/Caches/inner")
                let below = try OpenFile(inner, O_RDONLY | O_DIRECTORY)
                // purgefs refuses to mount inside a container, hence the bind mount.
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
                // Later lookups do not find the purged file under the former mount.
                daemon.signal(SIGKILL)
                try daemon.wait(within: 10)
                try Program.run("umount", inner).succeeded()
                #expect(!mount.exists("Library/Caches/inner/sub/f"))
                #expect(try Files.names(in: "\(inner)/sub") == [])
            }
        }

        /// close(2) of a control file does not wait for the daemon, not even the first time.
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

        /// The kernel locks a control file during a write like any other file. A rename over that file must not block a purge
        /// by command.
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

        /// kill -9 while the daemon announces purged names, with programs in their folders. Each program gets an error, and
        /// nothing of the mount is left.
        @Test func killedWhilePurging() throws {
            try withMount(deadline: 60 + 10 * Double(Scale.of(10)), mounted: false) { mount in
                var random = SeededGenerator(seed: 1)
                for _ in 0..<Scale.of(10) {
                    try fill(mount)
                    try mount.mount(["--total", "512M"])
                    let users = try startUsers(mount)
                    let purge = try Program.start(["sh", "-c", "echo caches > '\(mount.control("storage.reclaim"))'"])
                    usleep(UInt32(random.below(700_000)))  // at any moment of the purge, or before it
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

        /// The kernel's errors for a call after the end of the connection, for a call in flight, and for a page being read.
        private static let lost: Set = ["ENOTCONN", "ECONNABORTED", "ECANCELED", "EIO"]

        /// Fills ten folders with a thousand files each. Files from earlier rounds may still be there.
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
