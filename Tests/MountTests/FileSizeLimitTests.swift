import PurgeSystem
import Support
import Testing

extension Mounts {
    /// RLIMIT_FSIZE of a daemon, of `purgefs run`, and of its COMMAND.
    @Suite struct FileSizeLimitTests {
        /// A write past the daemon's limit fails with EFBIG. The daemon continues.
        @Test func aWritePastTheLimitOfTheDaemon() throws {
            try Scratch.with("limit") { scratch in
                let (binary, place) = (PurgefsBinary.path, scratch.path)
                try Program.shell(
                    "mkdir app; (ulimit -f 8192; exec '\(binary)' mount --total 64M store app)", in: place
                ).succeeded()
                let result = Result {
                    let file = try OpenFile("\(place)/app/Documents/f")
                    #expect(throws: Errno.fileTooLarge) { try file.fill(16 << 20) }
                    file.close()
                    try Files.unlink("\(place)/app/Documents/f")
                    #expect(try Files.names(in: "\(place)/app/Documents") == [])
                }
                try PurgefsBinary.run("unmount", "app", in: place).succeeded()
                try result.get()
                try PurgefsBinary.run("check", "store", in: place).succeeded()
            }
        }

        /// A run whose limit is too low for a store fails with a message and leaves no store, because purgefs ignores SIGXFSZ.
        @Test(arguments: [(0, 125), (100, 0)]) func aRunWithALimit(blocks: Int, status: Int32) throws {
            try Scratch.with("limit") { scratch in
                // The messages go to a pipe, to which the limit does not apply.
                let outcome = try Program.shell(
                    "{ (ulimit -f \(blocks); exec '\(PurgefsBinary.path)' run --quiet --store store -- true); "
                        + "echo ended with $?; } 2>&1 | cat", in: scratch.path)
                #expect(outcome.output.hasSuffix("ended with \(status)\n"), "\(outcome)")
                #expect(status == 0 || outcome.output.contains("File too large"), "\(outcome)")
                #expect(Files.exists("\(scratch.path)/store") == (status == 0))
            }
        }

        @Test func theCommandIsEndedByItsLimit() throws {
            let outcome = try PurgefsBinary.run(
                "run", "--quiet", "--", "sh", "-c", "ulimit -f 8; exec head -c 1M /dev/zero > $HOME/Documents/f")
            #expect(outcome.status == 128 + 25, "\(outcome)")
        }
    }
}
