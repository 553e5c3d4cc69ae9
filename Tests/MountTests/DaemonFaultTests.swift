import Foundation
import Glibc
import Support
import Testing

extension Mounts {
    /// System calls of the daemon fail under strace. Every caller still gets an answer, and never the ENOSPC of the disk below.
    @Suite struct DaemonFaultTests {
        private static let program =
            URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Programs/faulty_calls.py").path

        /// System calls to inject faults into. read, write and writev are absent because the daemon uses them to talk to the
        /// kernel.
        private static let systemCalls = [
            "pwrite64", "ftruncate", "fallocate", "fsync", "openat", "newfstatat,fstat,statx", "mkdirat", "unlinkat",
            "renameat2", "linkat,symlinkat", "fsetxattr,fremovexattr,fgetxattr", "lseek", "copy_file_range", "fchmodat",
        ]

        @Test func everyCallerGetsAnAnswer() throws {
            try withMount(["--total", "64M"], deadline: 400) { mount in
                mount.expectWarnings()
                var faults = 0
                for call in Self.systemCalls {
                    for (index, kind) in ["ENOSPC:when=1+", "EIO:when=1+", "ENOSPC:when=2+3", "EMFILE:when=1+2"]
                        .enumerated()
                    {
                        faults += try inject("inject=\(call):error=\(kind)", "round\(index)", in: mount)
                    }
                    let used = try mount.number("storage.used")
                    #expect(try Files.chargedTree(mount.root) == used, "\(call)")
                    try mount.remount()
                    #expect(try mount.number("storage.used") == used, "\(call): a scan finds something else")
                    try Program.run(Program.python, Self.program, mount.path("Documents"), "--remove").succeeded()
                    #expect(try mount.number("storage.used") == 0, "\(call)")
                }
                print("\(faults) faults of the daemon's system calls")
                #expect(faults >= 100)
            }
        }

        /// Returns the number of injected faults. The program starts its calls only after strace has attached to the daemon.
        private func inject(_ what: String, _ round: String, in mount: TestMount) throws -> Int {
            let fifo = ScratchRoot.shared.newName(round)
            try #require(mkfifo(fifo, 0o600) == 0)
            let input = try OpenFile(fifo, O_RDWR)
            let calls = try Program.start(
                [Program.python, Self.program, mount.path("Documents"), round], input: fifo)
            try eventually("the program has its file") { calls.output.hasPrefix("ready") }
            let daemon = try #require(mount.daemon)
            let trace = "\(fifo).trace"
            let strace = try Program.start(
                [
                    "strace", "-f", "-p", "\(daemon.pid)", "-o", trace, "-e",
                    "trace=\(what.split(separator: ":")[0].dropFirst(7))", "-e", what,
                ])
            defer {
                strace.signal(SIGTERM)
                _ = try? strace.wait(within: 20)
            }
            try eventually("strace has the daemon") { strace.errors.contains("attached") }
            try input.writeAll([10])
            // A caller without an answer would never finish.
            try #require(try calls.wait(within: 60) == 0, "\(what): \(calls.output) \(calls.errors)")
            #expect(calls.output.hasSuffix("done\n"))
            #expect(!calls.output.contains("ENOSPC") && !calls.output.contains("EDQUOT"), "\(what): \(calls.output)")
            strace.signal(SIGTERM)
            try strace.wait(within: 20)
            return Files.text(trace).components(separatedBy: "(INJECTED)").count - 1
        }
    }
}
