import Support
import Testing

extension Mounts {
    /// A power loss drops everything that a disk's volatile cache has not flushed. Data that an app has synced, the settings
    /// and the charges survive, and the store can be mounted and used again. Programs/power_loss.py describes the method. The
    /// test mounts every third state, or every state if PURGEFS_TEST_SCALE is at least 2.
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
                        // The program has its own mount namespace, because a copy of its mounts in another namespace would keep
                        // writing to the disk that the program rebuilds for each state.
                        "unshare", "--mount", "--propagation", "private", Program.python, "\(programs)/power_loss.py",
                        PurgefsBinary.path, disk, scratch.path, kind, "5",
                        "\(Scale.of(states))", "6", Scale.factor >= 2 ? "1" : "3",
                    ], timeout: 120 + 8 * Double(Scale.of(states)))
                #expect(outcome.status == 0, "\(outcome)")
            }
        }
    }
}
