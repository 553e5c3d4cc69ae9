import Glibc
import PurgeSystem
import Support
import Testing

@Suite struct ProcessStatusTests {
    /// The owner of a process is its effective user, even if it may not be inspected and /proc/PID belongs to root.
    @Test(arguments: [0, 1]) func owner(dumpable: Int) throws {
        try Scratch.with("owner") { scratch in
            try Files.write("", to: "\(scratch.path)/ready")
            chmod("\(scratch.path)/ready", 0o666)
            chmod(scratch.path, 0o755)
            let script = """
                import ctypes, os, time
                os.setgroups([]); os.setgid(65534); os.setuid(65534)
                ctypes.CDLL(None).prctl(4, \(dumpable), 0, 0, 0)
                open("\(scratch.path)/ready", "w").write("x"); time.sleep(1000)
                """
            let child = try Program.start([Program.python, "-c", script])
            defer { kill(child.pid, SIGKILL) }
            try eventually("the program runs") { Files.text("\(scratch.path)/ready") == "x" }
            #expect(ProcessStatus(of: child.pid)?.owner == 65534)
        }
    }
}
