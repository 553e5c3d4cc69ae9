import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Requests by io_uring (docs/INTERNALS.md). CloseOrderTests tries both transports, and `make long` runs all mount tests with
    /// io_uring.
    @Suite(.enabled(if: Transport.ringsCanBeTried, "io_uring for FUSE needs Linux 6.14 and root")) struct RingTests {
        private static func program(_ name: String) -> String {
            URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Programs/\(name)").path
        }

        /// What `-o transport=` accepts, and what it says where io_uring is switched off.
        @Test func theOption() throws {
            try withMount(mounted: false) { mount in
                mount.expectWarnings()
                func mounting(_ transport: String) throws -> Outcome {
                    let option = "transport=\(transport)"
                    return try Program.run(PurgefsBinary.path, "mount", "-o", option, mount.store, mount.root)
                }
                for wrong in ["", "uring", "Ring", "ring,transport=x"] {
                    let outcome = try mounting(wrong)
                    #expect(outcome.status == 64 && outcome.errors.contains("transport must be auto, ring or dev"))
                }
                try Transport.withRings(false) {
                    let outcome = try mounting("ring")
                    #expect(outcome.status == 1 && outcome.errors.contains("echo Y >"), "\(outcome)")
                }
                #expect(MountTable.entry(at: mount.root) == nil && !Files.exists(mount.store))
                for options in [["-o", "transport=auto"], ["-o", "transport=ring,transport=dev"]] {
                    try mount.mount(options)
                    #expect(Files.text(mount.path(".purgefs/status.json")).contains("\"transport\": \"dev\""))
                    try mount.unmount()
                }
                try mount.mount(by: .ring)
                let status = try Program.run(PurgefsBinary.path, "status", mount.root).succeeded()
                #expect(status.contains("io_uring"), "\(status)")
            }
        }

        /// If the connection is aborted while readers of `events` wait, the daemon ends.
        @Test func abortedBesideReaders() throws {
            try withMount(by: .ring) { mount in
                let readers = try (0..<5).map { _ in try Program.start(["cat", mount.path(".purgefs/events")]) }
                try mount.make("tmp/a", size: 4096)
                try eventually("readers") {
                    try mount.write("tmp", to: "storage.reclaim")
                    try mount.make("tmp/a", size: 4096)
                    return readers.allSatisfy { $0.output.contains("tmp/a") }
                }
                MountTable.abortConnection(of: mount.root)
                for reader in readers { _ = try reader.wait(within: Scale.patience) }
                let daemon = try #require(mount.daemon)
                _ = try daemon.wait(within: Scale.patience)
                try mount.crash()
            }
        }

        /// 20 slow calls and 60 readers of `events` on one CPU, and then other calls on that CPU.
        @Test func slowCallsHoldUpNobody() throws {
            try withMount(by: .ring) { mount in
                try mount.write("sync=3s", to: "faults")
                let output = try Program.run(
                    [Program.python, Self.program("ring_slow.py"), mount.root], timeout: 60
                ).succeeded()
                #expect(output == "calls before a sync has ended: 200\nreaders with the event: 60\n")
            }
        }

        /// The daemon is killed at any moment, while programs and its own threads are inside the mount: everything ends, and
        /// what was synced is there.
        @Test func killed() throws {
            try withMount(by: .ring) { mount in
                for round in 0..<Scale.of(40) {
                    try mount.write("+\(mount.number("storage.available") - (1 << 20))", to: "storage.others")
                    let child = try Program.start(
                        [Program.python, Self.program("ring_killed.py"), mount.root, "\(mount.scratch)/synced"])
                    usleep(UInt32(round * 7919 % 90_000))
                    mount.daemon?.signal(SIGKILL)
                    #expect(try child.wait(within: 30) == 0)
                    try mount.crash()
                    try mount.mount(by: .ring)
                    try mount.write("0", to: "storage.others")
                    for name in Files.text("\(mount.scratch)/synced").split(separator: "\n") {
                        #expect(try Files.status(mount.path("Documents/\(name)")).st_size == 8192, "round \(round)")
                    }
                }
            }
        }
    }
}
