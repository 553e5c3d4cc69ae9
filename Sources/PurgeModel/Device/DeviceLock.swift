/// The lock state of the simulated device, which decides which data an app can reach (docs/PROTECTION.md).
public enum LockState: String, CaseIterable, Codable, Sendable {
    case unlocked, locking, locked, beforeFirstUnlock
}

/// The lock of a device: its state, and the moment at which the state changes by itself.
public struct DeviceLock: Hashable, Sendable {
    public package(set) var state = LockState.unlocked
    /// The end of `locking` in the device's time; `distantPast` in every other state.
    public package(set) var locksAt = Instant.distantPast

    /// The duration of `locking`, a grace period in which all data can still be reached.
    public static let lockingTime = TimeSpan(seconds: 10)

    public init() {}

    /// When `proceed` has something to do; nil for never.
    public var nextDue: Instant? { state == .locking ? locksAt : nil }

    /// Returns whether `proceed` or `limit` has something to do at this moment.
    func isDue(at now: Instant) -> Bool {
        nextDue.map { $0 <= now || $0 > now.advanced(by: Self.lockingTime) } ?? false
    }

    /// Ends `locking` if it is over at `now`, and returns the moment at which it ended; returns nil if it is not over.
    mutating func proceed(to now: Instant) -> Instant? {
        guard let nextDue, nextDue <= now else { return nil }
        enter(.locked)
        return nextDue
    }

    /// Limits the time left of `locking` to its full length. The machine's clock may have been set back, and a device.json may
    /// contain any moment.
    mutating func limit(to now: Instant) { locksAt = min(locksAt, now.advanced(by: Self.lockingTime)) }

    /// Begins to lock an unlocked device, and returns true; does nothing in any other state.
    mutating func lock(at now: Instant) -> Bool {
        guard state == .unlocked else { return false }
        enter(.locking)
        locksAt = now.advanced(by: Self.lockingTime)
        return true
    }

    /// Unlocks the device, and returns whether the state has changed.
    mutating func unlock() -> Bool {
        guard state != .unlocked else { return false }
        enter(.unlocked)
        return true
    }

    mutating func reboot() { enter(.beforeFirstUnlock) }

    private mutating func enter(_ new: LockState) { (state, locksAt) = (new, .distantPast) }
}
