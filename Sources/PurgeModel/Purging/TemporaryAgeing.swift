/// When the daily removal of unused files in `tmp` is due: once a day of the device's time, in UTC.
public struct TemporaryAgeing: Hashable, Sendable {
    /// Whether the daily removal is in effect.
    var isOn = false
    /// The day of the last removal or, before the first one, the day on which counting began; nil before that.
    public internal(set) var day: Int64?

    /// The daily removal leaves a `tmp` alone that has no more than this.
    private static let leastBytes = ByteCount(10 << 20)

    /// Returns whether space is scarce enough, and `tmp` large enough, for the daily removal. It spares an app that runs.
    static func isNeeded(on device: Device) -> Bool {
        let desired = device.limits.desired
        let temporary = device.ledgers.reduce(.zero) { $0 + $1.temporary.bytes }
        return !device.app.isRunning && device.capacity.free < desired + desired + desired && temporary > leastBytes
    }

    /// The range of days of a device's clock.
    static let days: ClosedRange<Int64> = Instant.distantPast.day...Instant(nanoseconds: .max).day

    /// The moment at which the next removal is due, or at which the first day begins to count; nil for never.
    public var next: Instant? {
        guard isOn else { return nil }
        return day.map { Instant(seconds: ($0 + 1) * 86400, nanoseconds: 0) } ?? .distantPast
    }

    /// Whether `pass` has something to do. That is also the case if the machine's clock was set back to another day.
    public func isDue(at now: Instant) -> Bool { isOn && day != now.day }

    /// Moves on to the day of `now`, and returns whether files must be removed. Without a previous day, the call only begins to
    /// count days.
    mutating func pass(to now: Instant) -> Bool {
        guard isDue(at: now) else { return false }
        defer { day = now.day }
        return day != nil
    }

    /// Makes the removal that began at `moment` due again, because it was interrupted.
    package mutating func takeBack(_ moment: Instant) {
        if day == moment.day { day = moment.day - 1 }
    }
}

extension Instant {
    /// The day of this instant since 1970, in UTC.
    public var day: Int64 {
        let length: Int64 = 86400 * 1_000_000_000
        return nanoseconds / length - (nanoseconds % length < 0 ? 1 : 0)
    }
}
