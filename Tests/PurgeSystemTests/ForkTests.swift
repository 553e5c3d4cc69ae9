import Support
import Testing

struct ForkTests {
    /// A forked copy, such as the daemon of `run` or `mount`, can unlock what another of its threads waits for.
    @Test(arguments: ["mutex", "global"]) func aCopyUnlocksWhatAnotherThreadWaitsFor(what: String) throws {
        let probe = PurgefsBinary.besideTests("ForkProbe")
        #expect(try Program.run(probe, what, timeout: 60).status == 0)
    }
}
