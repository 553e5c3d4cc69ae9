import PurgeModel

/// The range of the times of events.
package struct EventTimes {
    package private(set) var first: String?
    package private(set) var last: String?

    package init() {}

    /// Adds an `Event.time`. Skips an invalid time, as a damaged journal may have.
    package mutating func add(_ time: String) {
        if let first, let last, time >= first, time <= last { return }
        guard Instant(iso8601: time) != nil else { return }
        first = first.map { min($0, time) } ?? time
        last = last.map { max($0, time) } ?? time
    }
}
