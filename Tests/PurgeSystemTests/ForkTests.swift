import Support
import Testing

struct ForkTests {
    /// The daemon of `run` and `mount` is such a copy.
    @Test(arguments: ["mutex", "global"]) func aCopyUnlocksWhatAnotherThreadWaitsFor(what: String) throws {
        let probe = PurgefsBinary.besideTests("ForkProbe")
        #expect(try Program.run(probe, what, timeout: 60).status == 0)
    }
}
