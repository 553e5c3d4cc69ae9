import Synchronization

/// Runs work that may never end, because it waits for another process.
public enum TimeLimit {
    private final class Answer<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
        let gate = Gate()
    }

    /// Runs `work` on its own thread and returns the result, or nil if that takes longer than `milliseconds`; the thread then
    /// continues alone. Each time the limit passes, the wait starts again if `isWorking` returns true.
    public static func run<Value: Sendable>(
        milliseconds: Int64, while isWorking: () -> Bool = { false }, _ work: @escaping @Sendable () -> Value
    ) throws(Errno) -> Value? {
        let answer = Answer<Value>()
        let seen = answer.gate.generation
        _ = try WorkThread(name: "asking") {
            let value = work()
            answer.value.withLock { $0 = value }
            answer.gate.advance()
        }
        repeat {
            answer.gate.wait(while: seen, milliseconds: milliseconds)
            if let value = answer.value.withLock({ $0 }) { return value }
        } while isWorking()
        return nil
    }
}
