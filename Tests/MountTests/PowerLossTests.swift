import Support
import Testing

extension Mounts {
    /// A disk with a volatile cache loses what was not flushed: what an app has synced, the settings and the charges
    /// are there afterwards, and a mount goes on from there. Programs/power_loss.py says how. Every third state is
    /// mounted, and each from PURGEFS_TEST_SCALE=2 on.
    @Suite struct PowerLossTests {
        @Test(arguments: [("ext4", 45), ("xfs", 30), ("btrfs", 30)])
        func statesAfterALossOfPower(kind: String, states: Int) throws {
            try Scratch.with("power") { scratch in
                let programs = HostileStoreTests.programs
                let disk = "\(scratch.path)/recorded_disk"
                try Program.shell(
                    "cc -O1 -o \(disk) \(programs)/recorded_disk.c $(pkg-config --cflags --libs fuse3)"
                ).succeeded()
                let outcome = try Program.run(
                    [
                        // A copy of its mounts in another namespace would go on writing to the disk of a state.
                        "unshare", "--mount", "--propagation", "private", Program.python, "\(programs)/power_loss.py",
                        PurgefsBinary.path, disk, scratch.path, kind, "5",
                        "\(Scale.of(states))", "6", Scale.factor >= 2 ? "1" : "3",
                    ], timeout: 120 + 8 * Double(Scale.of(states)))
                #expect(outcome.status == 0, "\(outcome)")
            }
        }
    }
}
