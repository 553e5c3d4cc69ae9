import Support
import Testing

/// Numbers and order of victims against a table that is added up anew each time.
struct TreeLedgerTests {
    @Test(arguments: 1...10) func agreesWithARecount(seed: UInt64) {
        var run = TreeRun(seed: seed)
        for number in 0..<max(1500, Scale.of(1500)) {
            run.step()
            guard number % 4 == 0 else { continue }
            guard run.check() else { return }
        }
        #expect(
            run.done.isSuperset(of: [
                "make", "nameless", "folder", "link", "relink", "gone", "unlink", "rename", "replace", "exchange",
                "mark", "exclude", "use", "open", "close", "hold", "unhold", "sparse", "free", "recharge", "resize",
                "charge",
                "choose",
                "detach", "reinstate", "policy", "no policy", "advance", "check", "by age", "by size",
            ]))
        run.drain()
    }
}
