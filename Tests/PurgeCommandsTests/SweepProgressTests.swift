import Testing

@testable import PurgeCommands

@Suite struct SweepProgressTests {
    @Test(arguments: [
        (1, 3, 10, ", 20 s left"), (1, 2, 0, ", 0 s left"), (1, 100, 2, ", 3 min left"), (3, 3, 10, ""), (0, 3, 10, ""),
    ]) func timeLeft(done: Int, all: Int, seconds: Int64, expected: String) {
        #expect(SweepProgress.timeLeft(done, of: all, after: seconds * 1_000_000_000) == expected)
    }
}
