import Glibc
import PurgeModel
import PurgeSystem
import Synchronization

/// The faults that the user has asked for (docs/FAULTS.md). Its lock is taken alone.
final class Faults: Sendable {
    private let rules = Mutex(FaultRules())
    /// Whether any rule is in force. Read for each request, without the lock.
    private let areSet = Atomic<Bool>(false)
    private let concernReads = Atomic<Bool>(false)
    /// Threads that change the device for a call, and may end after the call.
    private let threads = Mutex<[WorkThread]>([])
    /// Advances when a waiting call was interrupted, and at the end of the mount.
    let interruptions = Gate()
    /// Requests that wait for a fault; the value is true once the caller has got a signal.
    private let waiting = Mutex<[UInt64: Bool]>([:])

    var isWatching: Bool { areSet.load(ordering: .relaxed) }
    /// Whether reads must reach the daemon.
    var watchesReads: Bool { concernReads.load(ordering: .relaxed) }
    var text: String { rules.withLock { $0.text } }

    /// Carries out a command. EINVAL if a rule names an error that does not exist, or if there would be too many rules.
    func carryOut(_ command: FaultCommand) throws(Errno) {
        if case .add(let new, _) = command {
            for case .error(let name) in new.map(\.fault) where Errno(name: name) == nil { throw .invalid }
        }
        let isDone = rules.withLock { rules in
            let isDone = rules.carryOut(command)
            areSet.store(!rules.isEmpty, ordering: .relaxed)
            concernReads.store(rules.concernsReads, ordering: .relaxed)
            return isDone
        }
        guard isDone else { throw .invalid }
    }

    /// Counts a call. Returns its number among those of its kind, and the rules whose faults it meets.
    func meet(_ kind: MomentKind, _ path: String) -> (number: Int64, rules: [FaultRule]) {
        rules.withLock { rules in
            rules.meet(kind) { Glob($0).matches(path.utf8) }
        }
    }

    /// Runs `body` on a thread of its own, and returns when `body` has ended or `isEnough` returns true. `isEnough` is asked
    /// each time `gate` advances.
    func runApart(_ gate: Gate, until isEnough: () -> Bool, _ body: @escaping @Sendable () -> Void) throws(Errno) {
        let hasEnded = Ending()
        let thread = try WorkThread(name: "fault") {
            body()
            hasEnded.set()
            gate.advance()
        }
        threads.withLock { $0.append(thread) }
        while let seen = gate.generation(unless: { hasEnded.isSet || isEnough() }) { gate.wait(while: seen) }
    }

    private final class Ending: Sendable {
        private let flag = Atomic<Bool>(false)
        var isSet: Bool { flag.load(ordering: .acquiring) }
        func set() { flag.store(true, ordering: .releasing) }
    }

    /// Delays a call by this many milliseconds. Returns false if the call is over: its thread has been killed, or the mount
    /// ends.
    func delay(_ call: FaultyCall, milliseconds: Int64, isEnding: () -> Bool) -> Bool {
        waiting.withLock { $0[call.request] = false }
        defer { waiting.withLock { _ = $0.removeValue(forKey: call.request) } }
        let end = System.uptime() + milliseconds * 1_000_000
        while true {
            let seen = interruptions.generation
            let isInterrupted = waiting.withLock { $0[call.request] } ?? false
            if isEnding() || (isInterrupted && System.isKilled(thread: call.thread)) { return false }
            let left = (end - System.uptime() + 999_999) / 1_000_000
            guard left > 0 else { return true }
            // The kernel reports the first signal only, and a later one may kill the thread.
            interruptions.wait(while: seen, milliseconds: isInterrupted ? min(left, Self.period) : left)
        }
    }
    /// Milliseconds between two looks at a thread that has got a signal.
    private static let period: Int64 = 50

    /// Notes that the caller of a request has got a signal.
    func noteInterruption(of request: UInt64) {
        let isWaiting = waiting.withLock { waiting in
            guard waiting[request] != nil else { return false }
            waiting[request] = true
            return true
        }
        if isWaiting { interruptions.advance() }
    }

    /// Waits for the threads that change the device. Called at the end of the mount.
    func end() {
        for thread in threads.withLock({ $0 }) { thread.join() }
    }
}
