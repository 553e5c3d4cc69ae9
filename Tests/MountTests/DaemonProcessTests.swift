import Glibc
import Support
import Testing

extension Mounts {
    /// A daemon is a copy of the process that started it. The daemon loads the program again if its command line does not fit
    /// into the memory of that process's command line and environment, or if PURGEFS_MOUNT is set. The two cases differ only in
    /// /proc/PID/environ, and in whether spaces or NULs separate the words in /proc/PID/cmdline.
    @Suite struct DaemonProcessTests {
        private static let words = "mount --foreground --ready-fd 3 --known-store new --total 64M"

        /// Python that makes close_range(2) fail with ENOSYS by a seccomp filter, as on an old kernel, and then executes its
        /// arguments.
        private static let withoutCloseRange = """
            import ctypes, os, struct, sys
            code = b"".join(struct.pack("HBBI", *line) for line in (
                (0x20, 0, 0, 0), (0x15, 0, 1, 436), (0x06, 0, 0, 0x50000 | 38), (0x06, 0, 0, 0x7fff0000)))
            text = ctypes.create_string_buffer(code)
            program = ctypes.create_string_buffer(struct.pack("HP", 4, ctypes.addressof(text)))
            assert ctypes.CDLL(None).prctl(22, 2, program) == 0
            os.execv(sys.argv[1], sys.argv[1:])
            """

        /// Mounts through a link to the program, with ignored signals, open files and another umask. Returns the daemon's PID.
        private func start(_ mount: TestMount, environment: String, wrapper: [String]) throws -> String {
            let script = """
                trap '' HUP INT USR1; exec 7</etc/passwd 9</etc/passwd; umask 027; store=$1; point=$2; shift 2
                exec "$@" /usr/bin/env -i \(environment) "$0" mount --total 64M "$store" "$point"
                """
            try Files.symlink(PurgefsBinary.path, "\(mount.scratch)/link")
            try Program.run(
                ["/bin/sh", "-c", script, "\(mount.scratch)/link", mount.store, mount.root] + wrapper
            ).succeeded()
            return try #require(
                try Files.names(in: "/proc").first { name in
                    Int(name) != nil && Files.commandLine(of: name).hasSuffix(" \(mount.store) \(mount.root)")
                })
        }

        private func state(of daemon: String) -> [Substring] {
            Files.text("/proc/\(daemon)/status").split(separator: "\n").filter { line in
                ["Name:", "Umask:", "SigBlk:"].contains { line.hasPrefix($0) }
            }
        }

        /// Returns the signals that the daemon ignores, up to SIGSYS. glibc uses two signals above it for itself.
        private func ignored(by daemon: String) throws -> [Int32] {
            let lines = Files.text("/proc/\(daemon)/status").split(separator: "\n")
            let line = try #require(lines.first { $0.hasPrefix("SigIgn:\t") })
            let bits = try #require(UInt64(line.dropFirst(8), radix: 16))
            return (1...SIGSYS).filter { bits >> (UInt64($0) - 1) & 1 == 1 }
        }

        @Test func copiedAndLoadedAreAlike() throws {
            var states: [[Substring]] = []
            let long = "A=\(String(repeating: "x", count: 300)) B=y"
            let oldKernel = [Program.python, "-c", Self.withoutCloseRange]
            for (environment, wrapper, blank) in [
                (long, [], " "), (long, oldKernel, " "), ("", [], "\0"), ("\(long) PURGEFS_MOUNT=/mnt", [], "\0"),
            ] {
                try withMount(mounted: false) { mount in
                    let daemon = try start(mount, environment: environment, wrapper: wrapper)
                    let shown = "\(mount.scratch)/link \(Self.words) \(mount.store) \(mount.root)"
                    let expected = shown.split(separator: " ").joined(separator: blank) + "\0"
                    #expect(Files.text("/proc/\(daemon)/cmdline") == expected)
                    let status = Files.text("/proc/\(daemon)/stat").split(separator: " ")
                    #expect(status[5] == status[0], "the leader of a session")
                    let open = Files.open(in: daemon)
                    #expect(open.contains("/dev/fuse") && !open.contains("/etc/passwd"), "\(open)")
                    states.append(state(of: daemon))
                    #expect(try ignored(by: daemon) == [SIGPIPE, SIGXFSZ])
                    try PurgefsBinary.run("unmount", mount.root).succeeded()
                }
            }
            #expect(Set(states).count == 1 && states[0].count == 3 && states[0][0] == "Name:\tpurgefs", "\(states)")
        }

        /// The daemon's command line contains no remains of the longer one that it has overwritten.
        @Test func aLongCommand() throws {
            try Scratch.with("long") { scratch in
                let long = String(repeating: "x", count: 3000)
                let script = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '|'; : \(long)"
                let output = try Program.run(
                    [PurgefsBinary.path, "run", "--quiet", "--", "sh", "-c", script],
                    environment: ["TMPDIR": scratch.path]
                ).succeeded()
                let line = try #require(
                    output.split(separator: "|").first { $0.contains("--remove-store \(scratch.path)") })
                #expect(line.hasPrefix("\(PurgefsBinary.path) mount --foreground --ready-fd 3 "), "\(line)")
                #expect(line.split(separator: "/").dropLast().last == "Application", "\(line)")
                #expect(output.contains("|\(line)|") && !output.contains("\(line)||"))
            }
        }
    }
}
