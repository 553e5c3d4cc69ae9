import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Leftovers of a run that was killed together with its daemon. The next run removes them and nothing else.
    @Suite struct AbandonedRunTests {
        /// Starts a run in `scratch`, kills it with all its processes, and returns the name of the directory it leaves in tmp.
        private func killedRun(in scratch: String) throws -> String {
            let token = "PURGEFS_TEST_\(UUID().uuidString)"
            let child = try Program.start(
                [
                    PurgefsBinary.path, "run", "--", "sh", "-c",
                    "echo x > ~/Documents/photo; : > $OUT/ready; exec sleep 100",
                ],
                environment: ["OUT": scratch, "TMPDIR": "\(scratch)/tmp", "TOKEN": token])
            try eventually("the command runs") { Files.exists("\(scratch)/ready") }
            let all = try Files.names(in: "/proc").compactMap { pid_t($0) }.filter { pid in
                Files.text("/proc/\(pid)/environ").contains(token)
                    || Files.commandLine(of: "\(pid)").contains(" mount --foreground ")
                        && Files.commandLine(of: "\(pid)").contains("\(scratch)/tmp")
            }
            for pid in all { kill(pid, SIGSTOP) }
            for pid in all { kill(pid, SIGKILL) }
            _ = try child.wait(within: 30)
            try eventually("the daemon is gone") { !all.contains { Files.exists("/proc/\($0)/exe") } }
            return try #require(try Files.names(in: "\(scratch)/tmp").first)
        }

        @Test func aCopyOfItStays() throws {
            try Scratch.with("abandoned") { scratch in
                let tmp = "\(scratch.path)/tmp"
                try Files.makeDirectory(tmp)
                let left = try killedRun(in: scratch.path)
                // Copies include the attributes. The second name has the form of an abandoned run: six letters, as from
                // mkdtemp(3).
                for copy in ["\(left).saved", "purgefs-run.backup"] {
                    try Program.shell(
                        "mkdir \(copy); cp -a \(left)/store \(copy)/; "
                            + "getfattr -d \(left) | sed s/\(left)/\(copy)/ | setfattr --restore=-", in: tmp
                    ).succeeded()
                }
                try Files.makeDirectory("\(tmp)/purgefs-run.notes")
                // Old enough for a run to consider these directories abandoned.
                for name in [left, "purgefs-run.backup", "\(left).saved"] {
                    try Files.setModificationTime("\(tmp)/\(name)", secondsAgo: 11)
                }
                let run = try Program.run(
                    [PurgefsBinary.path, "run", "--quiet", "--", "true"], environment: ["TMPDIR": tmp])
                #expect(run.status == 0 && run.errors == "", "\(run)")
                #expect(
                    try Files.names(in: tmp).sorted()
                        == ["\(left).saved", "purgefs-run.backup", "purgefs-run.notes"].sorted())
                for copy in ["\(left).saved", "purgefs-run.backup"] {
                    #expect(Files.text("\(tmp)/\(copy)/store/container/Documents/photo") == "x\n")
                }
            }
        }
    }
}
