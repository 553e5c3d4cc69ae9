import Support
import Testing

extension Mounts {
    /// `purgefs run` as the first process of a PID namespace, as in a container.
    @Suite struct InitTests {
        /// Twenty processes lose their parent and end. None stays a zombie.
        @Test func orphansAreReaped() throws {
            let run = try Program.run(
                [
                    "unshare", "-pf", "--mount-proc", PurgefsBinary.path, "run", "--total", "64M", "--",
                    Program.python, "-c", Self.orphans,
                ])
            #expect(run.status == 7, "\(run)")
            #expect(run.output == "20 orphans of process 1\n0 of them are left\n")
        }

        private static let orphans = """
            import os, sys, time
            pipe, ends = os.pipe()
            for _ in range(20):
                parent = os.fork()
                if parent == 0:
                    if os.fork() == 0:
                        while os.getppid() != 1: time.sleep(0.001)
                        os.write(ends, f"{os.getpid()} ".encode())
                    os._exit(0)
                os.waitpid(parent, 0)
            os.close(ends)
            pids = b""
            while piece := os.read(pipe, 4096): pids += piece
            pids = pids.split()
            print(f"{len(set(pids))} orphans of process 1")
            deadline = time.monotonic() + 10
            left = lambda: [pid for pid in pids if os.path.exists(f"/proc/{pid.decode()}")]
            while left() and time.monotonic() < deadline: time.sleep(0.01)
            print(f"{len(left())} of them are left")
            sys.exit(7)
            """
    }
}
