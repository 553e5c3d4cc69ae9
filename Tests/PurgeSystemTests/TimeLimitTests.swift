import PurgeSystem
import Synchronization
import Testing

/// Waiting for work that may never end.
struct TimeLimitTests {
    /// The wait continues as long as the work makes progress.
    @Test(.timeLimit(.minutes(1))) func waitsAsLongAsItWorks() throws {
        let mayEnd = Gate()
        let seen = mayEnd.generation
        var asked = 0
        let value = try TimeLimit.run(
            milliseconds: 1,
            while: {
                asked += 1
                if asked == 3 { mayEnd.advance() }
                return true
            }
        ) {
            mayEnd.wait(while: seen)
            return 5
        }
        #expect(value == 5 && asked >= 3)
    }

    @Test func givesUp() throws {
        let mayEnd = Gate()
        let seen = mayEnd.generation
        var asked = 0
        let value = try TimeLimit.run(
            milliseconds: 1,
            while: {
                asked += 1
                return asked < 3
            }
        ) {
            mayEnd.wait(while: seen)
            return 5
        }
        #expect(value == nil && asked == 3)
        mayEnd.advance()
    }
}
