import Foundation
import Glibc

/// Acts on expired deadlines from its own thread, because a test that hangs in a system call cannot.
public final class Watchdog: @unchecked Sendable {
    // @unchecked: everything that changes is guarded by `condition`.
    public static let shared = Watchdog()
    private let condition = NSCondition()
    private var alarms: [Int: (deadline: Deadline, action: @Sendable () -> Void)] = [:]
    private var lastID = 0

    private init() {
        let thread = Thread { [self] in serve() }
        thread.start()
    }

    public func set(seconds: Double, _ action: @escaping @Sendable () -> Void) -> Int {
        condition.lock()
        defer { condition.unlock() }
        lastID += 1
        alarms[lastID] = (Deadline(seconds: seconds), action)
        condition.signal()
        return lastID
    }

    public func cancel(_ id: Int) {
        condition.lock()
        alarms[id] = nil
        condition.unlock()
    }

    private func serve() {
        while true {
            condition.lock()
            while let next = alarms.values.map(\.deadline.remaining).min(), next <= 0 {
                let due = alarms.filter { $0.value.deadline.hasPassed }
                due.keys.forEach { alarms[$0] = nil }
                condition.unlock()
                due.values.forEach { $0.action() }
                condition.lock()
            }
            let pause = alarms.values.map(\.deadline.remaining).min() ?? 3600
            _ = condition.wait(until: Date(timeIntervalSinceNow: max(pause, 0.001)))
            condition.unlock()
        }
    }
}
