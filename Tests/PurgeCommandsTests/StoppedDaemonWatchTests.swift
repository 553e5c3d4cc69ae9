import Testing

@testable import PurgeCommands

struct StoppedDaemonWatchTests {
    /// A stopped daemon ends only verbs that ask it. A container on the command line takes precedence over the surrounding one.
    @Test(arguments: [
        ("events", ["n"], ["n"]), ("set", ["n", "total=5G"], ["n"]), ("set", ["total=5G"], []),
        ("device", ["lock"], []), ("device", ["lock", "n"], ["n"]), ("clock", ["advance", "3d"], []),
        ("clock", ["advance", "3d", "n"], ["n"]), ("app", ["launch", "n"], ["n"]), ("policy", ["add", "n/x"], ["n/x"]),
        ("why", ["a", "b"], ["a", "b"]),
    ])
    func targets(verb: String, operands: [String], targets: [String]) throws {
        #expect(try Verbs.named(verb).targets(among: operands) == targets)
    }
}
