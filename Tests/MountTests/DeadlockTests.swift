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

        /// kill -9 while the kernel is being told of purged names, with programs in their folders: each gets its
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
                        #expect(
                            ["ENOTCONN", "ECONNABORTED"].contains(user.output.filter { $0 != "\n" }), "\(user.output)")
                    }
                    try Program.run("fusermount3", "-u", mount.root, timeout: 30).succeeded()
                    #expect(MountTable.entry(at: mount.root) == nil)
                }
                try mount.mount()
                #expect(try Files.chargedTree(mount.root) == mount.number("storage.used"))
            }
        }

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
