import Foundation
import Glibc
import Support
import Testing

extension Mounts {
    /// `purgefs list`, and the state that `purgefs device` sets and prints.
    @Suite struct ListTests {
        private struct Row: Decodable, Equatable {
            let mountpoint: String
            let store: String
            var total: Int64?
            var available: Int64?
            var pressure: String?
            var state: String?
            var problem: String?
        }

        @discardableResult private func purgefs(_ words: String...) throws -> String {
            try Program.run([PurgefsBinary.path] + words).succeeded()
        }

        private func row(of mount: TestMount) throws -> Row? {
            try purgefs("list", "--json").split(separator: "\n").map {
                try JSONDecoder().decode(Row.self, from: Data($0.utf8))
            }.first { $0.mountpoint == mount.root }
        }

        @Test func numbersAndState() throws {
            try withMount(["--total", "64M", "--others", "59M"]) { mount in
                var row = Row(
                    mountpoint: mount.root, store: mount.store, total: 67_108_864, available: 5_242_880,
                    pressure: "low",
                    state: "unlocked")
                #expect(try self.row(of: mount) == row)
                try purgefs("device", "lock", "--now", mount.root)
                #expect(try purgefs("device", "state", mount.root) == "locked\n")
                #expect(try mount.number("device.clock") == 10)
                row.state = "locked"
                #expect(try self.row(of: mount) == row)
                let line = "   5.0 MiB    64.0 MiB  low       locked             \(mount.root)  (store \(mount.store))"
                let lines = try purgefs("list").split(separator: "\n").map(String.init)
                #expect(lines.contains(line), "\(lines)")
                #expect(lines[0] == "      free       total  pressure  device             mount point")
                // If the device is already locked, there is no grace period to advance over.
                try purgefs("device", "lock", "--now", mount.root)
                #expect(try mount.number("device.clock") == 10)
                try mount.write("reboot", to: "device.state")
                try purgefs("device", "lock", "--now", mount.root)
                #expect(try purgefs("device", "state", mount.root) == "beforeFirstUnlock\n")
            }
        }

        /// A container that does not answer is listed with the reason.
        @Test func aDaemonThatDoesNotAnswer() throws {
            try withMount(by: .device) { mount in
                let daemon = try #require(mount.daemon)
                daemon.signal(SIGSTOP)
                defer { daemon.signal(SIGCONT) }
                let stopped = try row(of: mount)
                daemon.signal(SIGCONT)
                #expect(stopped?.problem == "its daemon is stopped; continue it: kill -CONT \(daemon.pid)")
                #expect(stopped?.total == nil && stopped?.store == mount.store)
                try mount.kill()
                let dead = try row(of: mount)
                #expect(dead?.problem == "its daemon has ended; remove the mount: purgefs unmount \(mount.root)")
                try purgefs("unmount", mount.root)
                #expect(try row(of: mount) == nil)
            }
        }

        /// A reader that closes the pipe after the first line does not make `list` fail.
        @Test func theReaderNeedsOneLine() throws {
            try withMount { _ in
                try withMount { _ in
                    let script = "set -o pipefail; for round in 1 2 3; do \(PurgefsBinary.path) list | head -n 1; done"
                    try Program.run("bash", "-e", "-c", script).succeeded()
                }
            }
        }

        @Test func stateOfAStore() throws {
            try withMount { mount in
                try mount.unmount()
                #expect(try purgefs("device", "state", mount.store) == "unlocked\n")
                try purgefs("device", "lock", "--now", mount.store)
                #expect(try purgefs("device", "state", mount.store) == "locked\n")
                #expect(try row(of: mount) == nil)
                let wrong = try Program.run(PurgefsBinary.path, "device", "reboot", "--now", mount.store)
                #expect(wrong.status == 64 && wrong.errors.contains("--now is an option of 'purgefs device lock'"))
            }
        }
    }
}
