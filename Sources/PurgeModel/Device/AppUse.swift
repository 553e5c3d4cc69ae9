/// When the app was last in the foreground. In profile `device`, that decides how urgent a purge must be to take the app's
/// caches (docs/RULES.md, Profiles).
public struct AppUse: Hashable, Sendable {
    /// When the app last entered or left the foreground; nil for never.
    public private(set) var lastForeground: Instant?
    /// The least urgency of a purge that takes `Library/Caches`, at the last call of `pass` or `note`.
    public private(set) var cachesUrgency = Urgency.low

    /// `nanoseconds` is the moment at which the app was last in the foreground.
    package init(nanoseconds: Int64? = nil) { lastForeground = nanoseconds.map(Instant.init(nanoseconds:)) }

    /// The times since the app left the foreground at which its caches become less important.
    private static let halfDay = TimeSpan(seconds: 12 * 3600)
    private static let day = TimeSpan(seconds: 24 * 3600)

    /// Records that the app has entered or left the foreground.
    mutating func note(at now: Instant) {
        lastForeground = now
        pass(to: now)
    }

    /// Updates the urgency, which falls with time.
    mutating func pass(to now: Instant) { cachesUrgency = urgency(at: now) }

    /// Returns whether `pass` would change the urgency.
    func isDue(at now: Instant) -> Bool { cachesUrgency != urgency(at: now) }

    /// When the urgency falls next; nil for never.
    var nextDue: Instant? {
        switch cachesUrgency {
        case .high: lastForeground?.advanced(by: Self.halfDay)
        case .medium: lastForeground?.advanced(by: Self.day)
        case .low: nil
        }
    }

    private func urgency(at now: Instant) -> Urgency {
        guard let last = lastForeground else { return .low }
        if now < last.advanced(by: Self.halfDay) { return .high }
        return now < last.advanced(by: Self.day) ? .medium : .low
    }
}

extension Urgency {
    /// Returns whether a purge of this urgency may take `Library/Caches` in profile `device`.
    func takesCaches(of device: borrowing Device) -> Bool {
        !device.app.isInForeground && self >= device.use.cachesUrgency
    }
}
