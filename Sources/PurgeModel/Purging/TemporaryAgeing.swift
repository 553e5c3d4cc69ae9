/// When files of `tmp` are looked at for their age: once a day of the device's time, in UTC.
public struct TemporaryAgeing: Hashable, Sendable {
    /// Whether they are.
    var isOn = false
    /// The day on which they were last; nil if it has not begun.
    public internal(set) var day: Int64?

    /// Days that a device can have.
    static let days: ClosedRange<Int64> = Instant.distantPast.day...Instant(nanoseconds: .max).day

    /// When they are next, or when it begins; nil for never.
    public var next: Instant? {
        guard isOn else { return nil }
        return day.map { Instant(seconds: ($0 + 1) * 86400, nanoseconds: 0) } ?? .distantPast
    }

    /// Whether `pass` has something to do. That is also so if the machine's clock was set back to another day.
    public func isDue(at now: Instant) -> Bool { isOn && day != now.day }

    /// Returns whether they are to be looked at now. The day on which it begins is not over.
    mutating func pass(to now: Instant) -> Bool {
        guard isDue(at: now) else { return false }
        defer { day = now.day }
        return day != nil
    }

    /// What a look at a moment has begun was not finished, so it is due again.
    package mutating func takeBack(_ moment: Instant) {
        if day == moment.day { day = moment.day - 1 }
    }
}

extension Instant {
    /// The day since 1970 that it is on, in UTC.
    public var day: Int64 {
        let length: Int64 = 86400 * 1_000_000_000
        return nanoseconds / length - (nanoseconds % length < 0 ? 1 : 0)
    }
}
