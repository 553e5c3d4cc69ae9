import Support
import Testing

struct ForkTests {
    /// The daemons of `run` and `mount` are such copies.
    @Test(arguments: ["mutex", "global"]) func aCopyUnlocksWhatAnotherThreadWaitsFor(what: String) throws {
        let probe = PurgefsBinary.besideTests("ForkProbe")
        #expect(try Program.run(probe, what, timeout: 60).status == 0)
    }
}
