import Glibc
import Support
import Testing

extension Mounts {
    /// A daemon is a copy of the process that started it, or has loaded the program anew where the memory of that process's
    /// command line and environment has no room for its own. Nobody sees a difference but by the blanks or NULs in /proc.
    @Suite struct DaemonProcessTests {
        private static let words = "mount --foreground --ready-fd 3 --total 64M"

        /// Mounts with signals ignored, files open and another umask; returns the daemon.
        private func start(_ mount: TestMount, environment: String) throws -> String {
            let script = """
                trap '' HUP INT USR1; exec 7</etc/passwd 9</etc/passwd; umask 027
                exec env -i \(environment) "$0" mount --total 64M "$1" "$2"
                """
            try Program.run(["/bin/sh", "-c", script, PurgefsBinary.path, mount.store, mount.root]).succeeded()
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

        /// Without those above SIGSYS, of which glibc has two for itself.
        private func ignored(by daemon: String) throws -> [Int32] {
            let lines = Files.text("/proc/\(daemon)/status").split(separator: "\n")
            let line = try #require(lines.first { $0.hasPrefix("SigIgn:\t") })
            let bits = try #require(UInt64(line.dropFirst(8), radix: 16))
            return (1...SIGSYS).filter { bits >> (UInt64($0) - 1) & 1 == 1 }
        }

        @Test func copiedAndLoadedAreAlike() throws {
            var states: [[Substring]] = []
            for (environment, blank) in [("A=\(String(repeating: "x", count: 300)) B=y", " "), ("", "\0")] {
                try withMount(mounted: false) { mount in
                    let daemon = try start(mount, environment: environment)
                    let shown = "\(PurgefsBinary.path) \(Self.words) \(mount.store) \(mount.root)"
                    let expected = shown.split(separator: " ").joined(separator: blank) + "\0"
                    #expect(Files.text("/proc/\(daemon)/cmdline") == expected)
                    let status = Files.text("/proc/\(daemon)/stat").split(separator: " ")
                    #expect(status[5] == status[0], "the leader of a session")
                    let open = try Program.run("ls", "-l", "/proc/\(daemon)/fd").succeeded()
                    #expect(open.contains("/dev/fuse") && !open.contains("/etc/passwd"), "\(open)")
                    states.append(state(of: daemon))
                    #expect(try ignored(by: daemon) == [SIGPIPE, SIGXFSZ])
                    try PurgefsBinary.run("unmount", mount.root).succeeded()
                }
            }
            #expect(states[0] == states[1] && states[0].count == 3, "\(states)")
        }

        /// Nothing is seen of a longer command line in the memory that it has replaced.
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
            }
        }
    }
}
