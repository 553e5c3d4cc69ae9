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
    private let areReadsRecorded = Atomic<Bool>(false)
    /// Threads that change the device for a call, and may end after the call.
    private let threads = Mutex<[(thread: WorkThread, hasEnded: Ending)]>([])
    /// Advances when delays may be over: the faults were written off, or no more requests are served.
    private let delays = Gate()
    private let isOver = Atomic<Bool>(false)
    /// How many calls are delayed.
    private let delayed = Atomic<Int>(0)

    var isWatching: Bool { areSet.load(ordering: .relaxed) }
    /// Whether reads must reach the daemon.
    var watchesReads: Bool { concernReads.load(ordering: .relaxed) || areReadsRecorded.load(ordering: .relaxed) }
    var text: String { rules.withLock { $0.text } }

    /// Lets all reads reach the daemon.
    func watchReads() { areReadsRecorded.store(true, ordering: .relaxed) }

    /// Carries out a command. EINVAL if a rule names an error that does not exist or is about
    /// power, or if there would be too many rules.
    func carryOut(_ command: FaultCommand) throws(Errno) {
        if case .add(let new, _) = command {
            for case .error(let name) in new.map(\.fault) where Errno(fault: name) == nil { throw .invalid }
            // A mount has no copy of what was there before its app.
            for case .power in new.map(\.fault) { throw .invalid }
        }
        let isDone = rules.withLock { rules in
            let isDone = rules.carryOut(command)
            areSet.store(!rules.isEmpty, ordering: .relaxed)
            concernReads.store(rules.concernsReads, ordering: .relaxed)
            return isDone
        }
        guard isDone else { throw .invalid }
        delays.advance()
    }

    /// Counts a call. Returns its number among those of its kind, and the rules whose faults it meets.
    func meet(_ kind: MomentKind, _ path: String) -> (number: Int64, rules: [FaultRule]) {
        rules.withLock { rules in
            rules.meet(kind) { Glob($0).matches(path.utf8) }
        }
    }

    /// Runs `body` on a thread of its own, and returns when `body` has ended or `isEnough` returns true. `isEnough` is asked
    /// each time `gate` advances.
    func runBeside(_ gate: Gate, until isEnough: () -> Bool, _ body: @escaping @Sendable () -> Void) throws(Errno) {
        let hasEnded = Ending()
        let thread = try WorkThread(name: "fault") {
            body()
            hasEnded.set()
            gate.advance()
        }
        threads.withLock { $0.append((thread, hasEnded)) }
        while let seen = gate.generation(unless: { hasEnded.isSet || isEnough() }) { gate.wait(while: seen) }
        for each in takeThreads(where: \.isSet) { each.join() }
    }

    /// Removes the threads that fulfil the condition from the list, for one caller to join.
    private func takeThreads(where isWanted: (Ending) -> Bool) -> [WorkThread] {
        threads.withLock { threads in
            let wanted = threads.filter { isWanted($0.hasEnded) }.map(\.thread)
            threads.removeAll { thread in wanted.contains { $0 === thread.thread } }
            return wanted
        }
    }

    private final class Ending: Sendable {
        private let flag = Atomic<Bool>(false)
        var isSet: Bool { flag.load(ordering: .acquiring) }
        func set() { flag.store(true, ordering: .releasing) }
    }

    /// Milliseconds between two looks at the thread of a delayed call. The kernel reports only the first signal that the thread
    /// gets, and a later one may kill it.
    private static let period: Int64 = 50

    /// Delays a call by this many milliseconds, or until the faults are written off. Returns false if the call is over: its
    /// thread has been killed, or the mount ends. At most `limit` calls are delayed at a time, so that threads remain for
    /// others; further calls are not delayed.
    func delay(_ call: FaultyCall, milliseconds: Int64, limit: Int) -> Bool {
        let count = delayed.add(1, ordering: .relaxed).newValue
        defer { delayed.subtract(1, ordering: .relaxed) }
        if count > limit { return true }
        let end = System.uptime() + milliseconds * 1_000_000
        while true {
            let seen = delays.generation
            if isOver.load(ordering: .acquiring) || System.isKilled(thread: call.thread) { return false }
            let left = (end - System.uptime() + 999_999) / 1_000_000
            guard left > 0, isWatching else { return true }
            delays.wait(while: seen, milliseconds: min(left, Self.period))
        }
    }

    /// Ends all delays, because no more requests are served.
    func endDelays() {
        isOver.store(true, ordering: .releasing)
        delays.advance()
    }

    /// Waits for the threads that change the device. Called at the end of the mount.
    func end() {
        for thread in takeThreads(where: { _ in true }) { thread.join() }
    }
}
