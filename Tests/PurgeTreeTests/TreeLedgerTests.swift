import Support
import Testing

/// Compares the numbers and the order of victims with a table that is recomputed each time.
struct TreeLedgerTests {
    /// With each of these seeds, each operation occurs.
    @Test(arguments: Scale.some(of: [1, 2, 4, 5, 6, 7, 8, 9, 10, 21], least: 2)) func agreesWithARecount(seed: UInt64) {
        let done = agree(TreeRun(seed: seed))
        #expect(done.isSuperset(of: Self.operations))
    }

    /// With groups and tombstones, the run also compares which files are purged together.
    @Test(arguments: Scale.some(of: 11...20, least: 2)) func agreesWithARecountOfGroups(seed: UInt64) {
        let done = agree(TreeRun(seed: seed, hasGroups: true))
        #expect(done.isSuperset(of: Self.operations.union(["behaviour", "choose more", "entomb"])))
    }

    /// A change to a directory visits one to three entries at a time, with other operations in between.
    @Test(arguments: Scale.some(of: 21...28, least: 3)) func agreesWithARecountInSteps(seed: UInt64) {
        let done = agree(TreeRun(seed: seed, hasGroups: seed % 2 == 0, step: 1 + Int(seed % 3)))
        let inSteps = Self.operations.subtracting(["check", "by age", "by size"])
        #expect(done.isSuperset(of: inSteps.union(["place", "unplaced", "remove folder"])))
    }

    private func agree(_ run: consuming TreeRun) -> Set<String> {
        var run = run
        for number in 0..<max(1500, Scale.of(1500)) {
            run.step()
            guard number % 4 == 0 else { continue }
            guard run.check() else { return run.done }
        }
        run.drain()
        return run.done
    }

    private static let operations: Set<String> = [
        "make", "nameless", "folder", "link", "relink", "gone", "unlink", "rename", "replace", "exchange", "mark",
        "exclude", "use", "open", "close", "hold", "unhold", "sparse", "free", "recharge", "resize", "charge", "choose",
        "detach", "reinstate", "policy", "no policy", "advance", "check", "by age", "by size",
    ]
}
