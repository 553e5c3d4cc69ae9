import Synchronization

/// Work that may never end, because it waits for a process that does not answer.
public enum TimeLimit {
    private final class Answer<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
        let gate = Gate()
    }

    /// Runs `work` on a thread of its own and returns its result; nil if that takes longer than `milliseconds`. The
    /// thread then goes on by itself. With `isWorking`, that is asked each time, and as long as it says so, this waits on.
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
