import PurgeModel

/// Purges of which the events are still to come, and the pressure events that wait for those: a level that
/// rises since something was purged is told of after what was purged.
struct UntoldPurges {
    private var last: UInt64 = 0
    private var untold: Set<UInt64> = []
    private var waiting: [(behind: UInt64, event: Event)] = []

    var isEmpty: Bool { untold.isEmpty }

    /// The number of a purge that has been decided.
    mutating func begin() -> UInt64 {
        last += 1
        untold.insert(last)
        return last
    }

    /// All that it purged has been told of, or nothing will be; answers the events that need not wait any longer.
    mutating func end(_ number: UInt64) -> [Event] {
        untold.remove(number)
        guard !waiting.isEmpty else { return [] }
        let oldest = untold.min() ?? .max
        let ready = waiting.prefix { $0.behind < oldest }.map(\.event)
        waiting.removeFirst(ready.count)
        return ready
    }

    /// Waits for all the purges that have begun.
    mutating func wait(_ event: Event) { waiting.append((last, event)) }

    /// What waits, for who cannot let another event come first.
    mutating func takeWaiting() -> [Event] {
        defer { waiting = [] }
        return waiting.map(\.event)
    }
}
