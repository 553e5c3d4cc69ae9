import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Purgeable files that change while a write needs their bytes.
    @Suite struct ChangingFileTests {
        private func changing(
            _ mount: TestMount, until isDone: @escaping @Sendable () -> Bool
        ) -> Workers.Group {
            let (here, there) = (mount.path("tmp/a"), mount.path("tmp/b"))
            return Workers.start(2) { worker in
                while !isDone() {
                    // A call fails if the file is gone or has the other name at the moment.
                    if worker == 0 {
                        _ = try? Files.changeMode(here, 0o600)
                        _ = try? Files.changeMode(there, 0o644)
                    } else {
                        _ = try? Files.rename(here, there)
                        _ = try? Files.rename(there, here)
                    }
                }
            }
        }

        /// With no free block, each write must purge the one file that other threads are changing, and waits for it.
        @Test func whoIsShortBecauseOfItWaits() throws {
            try withMount { mount in
                try mount.turnThresholdsOff()
                try mount.write("+\(mount.number("storage.available") - 4096)", to: "storage.others")
                let isDone = Tally()
                let changing = changing(mount) { isDone.value > 0 }
                let result = Result {
                    for _ in 0..<Scale.of(300) {
                        try mount.make("tmp/a", size: 4096)
                        let file = try OpenFile(mount.path("Documents/f"))
                        #expect(try file.write(4096) == 4096)
                        file.close()
                        try Files.unlink(mount.path("Documents/f"))
                    }
                }
                isDone.add()
                try changing.join(within: 60)
                try result.get()
                #expect(try mount.table("storage.stat")["refused.writes"] == 0)
            }
        }
    }

    /// Removed files and directories that processes still have open.
    @Suite struct RemovedDirectoryTests {
        /// With only 256 descriptors for the daemon, fstat(2) works for all of 400 removed directories that are still open, and
        /// 60 files can be open besides.
        @Test func manyThatAreHeld() throws {
            try withMount(mounted: false) { mount in
                try mount.mount(["--total", "64M"], wrapper: ["prlimit", "--nofile=256:256"])
                let program = """
                    import os, stat, sys
                    os.chdir(sys.argv[1])
                    held = []
                    for number in range(400):
                        os.mkdir("d")
                        held.append(os.open("d", os.O_PATH))
                        os.rmdir("d")
                    for fd in held:
                        status = os.fstat(fd)
                        assert stat.S_ISDIR(status.st_mode) and status.st_nlink == 0, status
                    for name in range(100):
                        open(f"f{name}", "w").write("x")
                    files = [open(f"f{name}") for name in range(60)]
                    assert len(os.listdir(".")) == 100
                    print("done")
                    """
                let outcome = try Program.run(
                    [Program.python, "-c", program, mount.path("Documents")], timeout: 60)
                #expect(try outcome.succeeded() == "done\n")
                let daemon = try #require(mount.daemon)
                #expect(try Files.names(in: "/proc/\(daemon.pid)/fd").count < 230)
            }
        }

        @Test func whatCanStillBeDoneWithOne() throws {
            try withMount { mount in
                let program = """
                    import os, sys
                    os.chdir(sys.argv[1])
                    os.mkdir("d")
                    os.chdir("d")
                    fd = os.open(".", os.O_RDONLY)
                    os.rmdir("../d")
                    os.fchmod(fd, 0o700)
                    assert os.fstat(fd).st_mode & 0o777 == 0o700
                    assert os.listdir(fd) == []
                    for call in (lambda: open("f", "w"), lambda: os.mkdir("e"), lambda: os.stat("f")):
                        try:
                            call()
                            assert False
                        except FileNotFoundError:
                            pass
                    """
                try Program.run([Program.python, "-c", program, mount.path("Documents")], timeout: 60).succeeded()
            }
        }
    }

    /// A file with so many names that an algorithm quadratic in them would take minutes.
    @Suite struct ManyNamesTests {
        @Test func renamedWithTheirFolder() throws {
            let program = """
                import os, sys
                folder, count = sys.argv[1], int(sys.argv[2])
                os.makedirs(folder)
                open(folder + "/0", "w").write("x")
                for number in range(1, count):
                    os.link(folder + "/0", f"{folder}/{number}")
                """
            try withMount(deadline: 60, mounted: false) { mount in
                try mount.mount()
                try mount.unmount()
                let count = Scale.of(30_000)
                try Program.run(
                    [Program.python, "-c", program, "\(mount.store)/container/tmp/d", "\(count)"], timeout: 60
                ).succeeded()
                try mount.mount()
                func bytes(_ tier: String) throws -> Int64? { try mount.table("storage.stat")["\(tier).bytes"] }
                #expect(try bytes("temporary") == 4096)
                try Files.rename(mount.path("tmp/d"), mount.path("Documents/d"))
                #expect(try bytes("persistent") == 4096)
                try Files.rename(mount.path("Documents/d/7"), mount.path("tmp/7"))
                try Files.rename(mount.path("Documents/d"), mount.path("Library/Caches/d"))
                #expect(try bytes("caches") == 4096)
                try Program.run("rm", "-r", mount.path("Library/Caches/d"), timeout: 60).succeeded()
                #expect(try bytes("temporary") == 4096)
                #expect(try mount.number("storage.reclaimable") == 4096)
            }
        }
    }
}
