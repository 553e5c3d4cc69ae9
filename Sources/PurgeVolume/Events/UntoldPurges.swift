import PurgeModel

/// Purges whose events are still to come, and the pressure events that wait for them. If a purge improves the level, the
/// level's event comes after the events of the purge.
struct UntoldPurges {
    /// The number of the last purge that was decided.
    private(set) var last: UInt64 = 0
    /// Purges that are being carried out.
    private(set) var underWay: Set<UInt64> = []
    private var untold: Set<UInt64> = []
    private var waiting: [(behind: UInt64, event: Event)] = []

    var isEmpty: Bool { untold.isEmpty }

    /// Registers a purge that has been decided, and returns its number.
    mutating func begin() -> UInt64 {
        last += 1
        untold.insert(last)
        underWay.insert(last)
        return last
    }

    /// Notes that all events of a purge have been sent, or that there will be none. Returns the events that no longer need to
    /// wait.
    mutating func end(_ number: UInt64) -> [Event] {
        untold.remove(number)
        guard !waiting.isEmpty else { return [] }
        let oldest = untold.min() ?? .max
        let ready = waiting.prefix { $0.behind < oldest }.map(\.event)
        waiting.removeFirst(ready.count)
        return ready
    }

    /// Notes that a purge is over. Called after `end`.
    mutating func finish(_ number: UInt64) { underWay.remove(number) }

    /// Whether a purge up to this number is being carried out.
    func isUnderWay(upTo number: UInt64) -> Bool { underWay.contains { $0 <= number } }

    /// Keeps an event until all purges that have begun have sent their events.
    mutating func wait(_ event: Event) { waiting.append((last, event)) }

    /// Removes and returns the waiting events. Called before an event that must not precede them.
    mutating func takeWaiting() -> [Event] {
        defer { waiting = [] }
        return waiting.map(\.event)
    }
}
