import PurgeModel

/// Purges whose events are still to come, and the pressure events that wait for them: if the level gets better because
/// something was purged, the event of the level comes after those of the purge.
struct UntoldPurges {
    /// The number of the last one that was decided.
    private(set) var last: UInt64 = 0
    /// Those that are being carried out.
    private(set) var underWay: Set<UInt64> = []
    private var untold: Set<UInt64> = []
    private var waiting: [(behind: UInt64, event: Event)] = []

    var isEmpty: Bool { untold.isEmpty }

    /// The number of a purge that has been decided.
    mutating func begin() -> UInt64 {
        last += 1
        untold.insert(last)
        underWay.insert(last)
        return last
    }

    /// The events of everything that it purged have been sent, or there will be none. Returns the events that no longer
    /// need to wait.
    mutating func end(_ number: UInt64) -> [Event] {
        untold.remove(number)
        guard !waiting.isEmpty else { return [] }
        let oldest = untold.min() ?? .max
        let ready = waiting.prefix { $0.behind < oldest }.map(\.event)
        waiting.removeFirst(ready.count)
        return ready
    }

    /// It is over. Comes after `end`.
    mutating func finish(_ number: UInt64) { underWay.remove(number) }

    /// Whether one of those up to this number is being carried out.
    func isUnderWay(upTo number: UInt64) -> Bool { underWay.contains { $0 <= number } }

    /// Waits for all the purges that have begun.
    mutating func wait(_ event: Event) { waiting.append((last, event)) }

    /// The waiting events, for an event that must not come before them.
    mutating func takeWaiting() -> [Event] {
        defer { waiting = [] }
        return waiting.map(\.event)
    }
}
