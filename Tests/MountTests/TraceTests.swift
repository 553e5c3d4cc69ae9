import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// The lines of `mount --trace` and `run --trace` (docs/DEBUGGING.md).
    @Suite struct TraceTests {
        private func lines(_ text: String, of call: String) -> [Substring] {
            text.split(separator: "\n").filter { $0.split(separator: " ").dropFirst().first == call[...] }
        }

        /// When a call returns, the log already has its line.
        @Test func aWriteAndItsFile() throws {
            try withMount(["--total", "64M", "--trace"]) { mount in
                let file = try OpenFile(mount.path("Documents/a \"b\""), O_WRONLY | O_CREAT)
                _ = try file.write(4096, at: 8192)
                let thread = System.threadID()
                let line = try #require(lines(mount.log, of: "write").last)
                #expect(line.hasSuffix(" us"))
                #expect(line.contains(#" write "Documents/a \"b\"" 8192+4096 by \#(thread) = 4096 in "#))
                file.close()
                Glibc.rename(mount.path("Documents/a \"b\""), mount.path("tmp/c"))
                let rename = try #require(lines(mount.log, of: "rename2").last ?? lines(mount.log, of: "rename").last)
                #expect(rename.contains(#" "Documents/a \"b\"" "tmp/c" by \#(thread) = 0 in "#))
                #expect(throws: Errno.noEntry) { try mount.touch("tmp/none") }
                let lookup = try #require(lines(mount.log, of: "lookup").last)
                #expect(lookup.contains(#" "tmp/none" by \#(thread) = ENOENT in "#))
            }
        }

        @Test func aPurgeAndItsReason() throws {
            try withMount(["--total", "64M", "--trace"]) { mount in
                try mount.make("tmp/victim", size: 8192)
                try mount.takeAllFreeSpace()
                try mount.writeImportant(4096)
                let purge = try #require(lines(mount.log, of: "event").first { $0.contains(#""type":"purge""#) })
                for part in [#""path":"tmp/victim""#, #""reason":"temporary""#, #""trigger":"importantWrite""#] {
                    #expect(purge.contains(part), "\(purge)")
                }
                // The daemon notifies watchers with its own call.
                let told = try #require(lines(mount.log, of: "unlink").last)
                #expect(told.contains(#" "tmp/victim" by "#) && !told.contains(" by \(System.threadID()) "))
            }
        }

        @Test func aRefusedOpen() throws {
            try withMount(["--total", "64M", "--protection", "complete", "--trace=files"]) { mount in
                try mount.make("Documents/f", size: 1)
                try mount.write("lock", to: "device.state")
                try mount.write("+10s", to: "device.clock")
                #expect(throws: Errno.notPermitted) { try mount.touch("Documents/f") }
                let line = try #require(lines(mount.log, of: "open").last)
                #expect(line.contains(#" "Documents/f" by \#(System.threadID()) = EPERM in "#))
                #expect(lines(mount.log, of: "create").count == 1)
                for other in ["write", "lookup", "event"] { #expect(lines(mount.log, of: other).isEmpty) }
            }
        }

        /// SIGUSR1 logs the requests that programs are waiting for, which shows why a mount hangs.
        @Test func aRequestThatWaits() throws {
            try withMount(["--total", "64M", "--trace=data"]) { mount in
                let reader = try Program.start(["cat", mount.control("events")])
                try eventually("a read that waits") {
                    mount.daemon?.signal(SIGUSR1)
                    return lines(mount.log, of: "read").contains {
                        $0.contains(#" ".purgefs/events" "#) && $0.contains(" by \(reader.pid) waits for ")
                    }
                }
                reader.signal(SIGTERM)
                try reader.wait(within: 10)
            }
        }

        @Test func aRunWritesItToAFile() throws {
            try Scratch.with("trace") { scratch in
                let file = "\(scratch.path)/trace"
                try PurgefsBinary.run(
                    "run", "--quiet", "--trace", file, "--", "sh", "-c", "echo x > \"$HOME/Documents/f\""
                ).succeeded()
                let text = Files.text(file)
                for (call, operands, result) in [("create", "", "0"), ("write", " 0+2", "2")] {
                    let line = lines(text, of: call).first { $0.contains("\"Documents/f\"\(operands) by ") }
                    #expect(line?.contains(" = \(result) in ") == true, "\(text)")
                }
            }
        }
    }
}
