import PurgeSystem
import Testing

struct GateTests {
    /// A change between the check and the wait ends the wait at once.
    @Test func anEndBetweenLookAndWait() throws {
        let gate = Gate()
        var isOver = false
        let seen = gate.generation {
            defer {
                isOver = true
                gate.advance()
            }
            return isOver
        }
        #expect(gate.wait(while: try #require(seen), milliseconds: 10_000))
        #expect(gate.generation { isOver } == nil)
    }
}
