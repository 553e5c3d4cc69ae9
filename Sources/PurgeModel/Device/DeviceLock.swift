/// Whether the simulated device is locked, which decides what data protection lets an app read.
public enum LockState: String, CaseIterable, Codable, Sendable {
    case unlocked, locking, locked, beforeFirstUnlock
}

/// The lock of a device: its state, and when that changes by itself.
public struct DeviceLock: Hashable, Sendable {
    public package(set) var state = LockState.unlocked
    /// When `locking` ends, in the device's own time; `distantPast` in every other state.
    public package(set) var locksAt = Instant.distantPast

    /// How long a device that has been locked can still read everything.
    public static let lockingTime = TimeSpan(seconds: 10)

    public init() {}

    /// When `proceed` has something to do; nil if never.
    public var nextDue: Instant? { state == .locking ? locksAt : nil }

    /// Whether `proceed` or `limit` has something to do at this moment.
    func isDue(at now: Instant) -> Bool {
        nextDue.map { $0 <= now || $0 > now.advanced(by: Self.lockingTime) } ?? false
    }

    /// Returns when it was locked, if that is over by now.
    mutating func proceed(to now: Instant) -> Instant? {
        guard let nextDue, nextDue <= now else { return nil }
        enter(.locked)
        return nextDue
    }

    /// The machine's clock may have been set back, and a file can have any moment: locking takes no longer for that.
    mutating func limit(to now: Instant) { locksAt = min(locksAt, now.advanced(by: Self.lockingTime)) }

    /// Before the first unlock everything stays locked as it is, and so it does while it is locking or locked. Returns
    /// whether the state has changed.
    mutating func lock(at now: Instant) -> Bool {
        guard state == .unlocked else { return false }
        enter(.locking)
        locksAt = now.advanced(by: Self.lockingTime)
        return true
    }

    /// Returns whether the state has changed.
    mutating func unlock() -> Bool {
        guard state != .unlocked else { return false }
        enter(.unlocked)
        return true
    }

    mutating func reboot() { enter(.beforeFirstUnlock) }

    private mutating func enter(_ new: LockState) { (state, locksAt) = (new, .distantPast) }
}
