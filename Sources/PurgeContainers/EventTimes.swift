import PurgeModel

/// Between which times events are.
package struct EventTimes {
    package private(set) var first: String?
    package private(set) var last: String?

    package init() {}

    /// `Event.time`; what is no time, in a damaged journal, is passed over.
    package mutating func add(_ time: String) {
        if let first, let last, time >= first, time <= last { return }
        guard Instant(iso8601: time) != nil else { return }
        first = first.map { min($0, time) } ?? time
        last = last.map { max($0, time) } ?? time
    }
}
