import Support
import Testing

struct ForkTests {
    /// In a forked copy, such as the daemon of `run` or `mount`, a thread can wake another that waits for a lock or a global.
    @Test(arguments: ["mutex", "global"]) func aCopyUnlocksWhatAnotherThreadWaitsFor(what: String) throws {
        let probe = PurgefsBinary.besideTests("ForkProbe")
        #expect(try Program.run(probe, what, timeout: 60).status == 0)
    }
}
