import Foundation
import Support
import Testing

extension Mounts {
    /// A COMMAND of `purgefs run` that mounts something over its container.
    @Suite struct RunCoverTests {
        /// Runs `command` in a mount namespace of its own, and prints the number of mounts and the names that the run has left.
        private func run(_ command: String) throws -> (outcome: Outcome, summary: String) {
            let script = """
                "$P" run --summary summary.json -- sh -c "$0"
                status=$?; grep -c "$TMPDIR" /proc/self/mounts; ls "$TMPDIR"; exit $status
                """
            return try Scratch.with("cover") { scratch in
                try Files.makeDirectory("\(scratch.path)/t")
                let outcome = try Program.run(
                    ["unshare", "-m", "sh", "-c", script, command], in: scratch.path,
                    environment: ["P": PurgefsBinary.path, "TMPDIR": "\(scratch.path)/t"])
                return (outcome, Files.text("\(scratch.path)/summary.json"))
            }
        }

        private static let covers: [(command: String, mounts: [String])] = [
            ("mount -t tmpfs x $HOME", ["tmpfs"]),
            ("mount --bind /usr $HOME; mount -t tmpfs x $HOME", ["", "tmpfs"]),
            ("mount -t tmpfs x $HOME/..", ["tmpfs"]),
            ("mount -t tmpfs x $HOME; mount -t tmpfs x $HOME/../../../..", ["tmpfs", "tmpfs"]),
            ("mount --bind $HOME/Documents $HOME", ["fuse.purgefs"]),
        ]

        /// The run removes the covering mounts, ends as usual, and leaves nothing behind.
        @Test(arguments: covers.indices) func itIsTakenAway(index: Int) throws {
            let (command, mounts) = Self.covers[index]
            let (outcome, summary) = try run("cd /; echo x > $HOME/Documents/x; \(command) && exit 7")
            #expect(outcome.status == 7 && outcome.output == "0\n", "\(outcome)")
            #expect(outcome.errors.contains("COMMAND mounted a file system over the container"))
            let listed = outcome.errors.components(separatedBy: "\n  a mount of type ").dropFirst()
            #expect(listed.count == mounts.count && zip(listed, mounts).allSatisfy { $0.hasPrefix($1) }, "\(outcome)")
            #expect(outcome.errors.contains("refused; used 4.0 KiB"), "\(outcome)")
            #expect(!outcome.errors.contains("is gone"), "\(outcome)")
            #expect(summary.contains("\"pressure\""))
        }

        /// A container that was unmounted is gone, even if something else is mounted in its place.
        @Test func insteadOfTheContainer() throws {
            let outcome = try run("trap '' TERM; cd /; umount $HOME; mount -t tmpfs x $HOME").outcome
            #expect(outcome.status == 125 && outcome.output == "0\n", "\(outcome)")
            #expect(outcome.errors.contains("the container is gone"), "\(outcome)")
        }

        /// A mount inside the container does not hide it.
        @Test func aMountInTheContainer() throws {
            let outcome = try run("mount -t tmpfs x $HOME/Documents").outcome
            #expect(outcome.status == 0 && outcome.output == "0\n", "\(outcome)")
            #expect(outcome.errors.contains("the container is still in use"), "\(outcome)")
        }
    }
}
