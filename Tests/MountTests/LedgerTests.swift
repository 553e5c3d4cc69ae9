import Support
import Testing

extension Mounts {
    /// The ledger equals an independent model after each random operation.
    @Suite struct LedgerTests {
        @Test(arguments: Backing.allCases) func randomOperations(backing: Backing) throws {
            // Other file systems differ in a few calls only, so they get fewer steps.
            let steps = Scale.of(backing == .ext4 ? 10_000 : 4000)
            try withMount(["--total", "12M"], on: backing, deadline: 400) { mount in
                let run = try LedgerRun(
                    mount, seed: UInt64(backing.rawValue.utf8.reduce(0) { $0 &* 31 &+ Int($1) }), total: 12 << 20)
                for step in 1...steps {
                    try run.step()
                    try run.check(step)
                    if step % 500 == 0 { try run.checkThoroughly(step) }
                    if step % 2000 == 0 { try run.remount(step) }
                }
                try run.remount(steps)
            }
        }
    }
}
