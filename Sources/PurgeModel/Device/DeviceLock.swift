/// The lock state of the simulated device, which decides which data an app can reach (docs/PROTECTION.md).
public enum LockState: String, CaseIterable, Codable, Sendable {
    /// `inactive` is a locked device whose access to files of class `completeWhenUserInactive` has expired. For users, such a
    /// device is `locked`.
    case unlocked, locking, locked, inactive, beforeFirstUnlock

    /// The state that `device.state` shows.
    public var shown: LockState { self == .inactive ? .locked : self }
}

/// The lock of a device: its state, and the moment at which the state changes by itself.
public struct DeviceLock: Hashable, Sendable {
    public package(set) var state = LockState.unlocked
    /// The end of `locking` in the device's time; `distantPast` in every other state.
    public package(set) var locksAt = Instant.distantPast
    /// The end of `locked` in the device's time, when access expires; `distantPast` in every other state.
    public package(set) var inactiveAt = Instant.distantPast
    /// The duration of `locked`, after which access expires.
    public package(set) var inactivity = Self.usualInactivity

    /// The duration of `locking`, a grace period in which all data can still be reached.
    public static let lockingTime = TimeSpan(seconds: 10)
    static let usualInactivity = TimeSpan(seconds: 3600)

    public init() {}

    /// When `proceed` has something to do; nil for never.
    public var nextDue: Instant? {
        switch state {
        case .locking: locksAt
        case .locked: inactiveAt
        case .unlocked, .inactive, .beforeFirstUnlock: nil
        }
    }

    /// The longest time left of a state that ends by itself.
    private var duration: TimeSpan { state == .locking ? Self.lockingTime : inactivity }

    /// Returns whether `proceed` or `limit` has something to do at this moment.
    func isDue(at now: Instant) -> Bool {
        nextDue.map { $0 <= now || $0 > now.advanced(by: duration) } ?? false
    }

    /// Ends the state if it is over at `now`, and returns the moment at which it ended; returns nil if it is not over. The next
    /// state may be over, too.
    mutating func proceed(to now: Instant) -> Instant? {
        guard let nextDue, nextDue <= now else { return nil }
        // A device.json without the moment means that the state ended long ago.
        let moment = nextDue == .distantPast ? now : nextDue
        if state == .locking {
            enter(.locked)
            inactiveAt = moment.advanced(by: inactivity)
        } else {
            enter(.inactive)
        }
        return moment
    }

    /// Limits the time left of a state to its full length. The machine's clock may have been set back, and a device.json may
    /// contain any moment.
    mutating func limit(to now: Instant) {
        let latest = now.advanced(by: duration)
        (locksAt, inactiveAt) = (min(locksAt, latest), min(inactiveAt, latest))
    }

    /// Begins to lock an unlocked device, and returns true; does nothing in any other state.
    mutating func lock(at now: Instant) -> Bool {
        guard state == .unlocked else { return false }
        enter(.locking)
        locksAt = now.advanced(by: Self.lockingTime)
        return true
    }

    /// Locks a device that is unlocked or locking, and returns true; does nothing in any other state.
    mutating func lockAtOnce(at now: Instant) -> Bool {
        guard state == .unlocked || state == .locking else { return false }
        start(.locked)
        limit(to: now)
        return true
    }

    /// Unlocks the device, and returns whether the state has changed.
    mutating func unlock() -> Bool {
        guard state != .unlocked else { return false }
        enter(.unlocked)
        return true
    }

    /// Enters a state whose length counts from the next call of `limit`.
    mutating func start(_ new: LockState) {
        enter(new)
        if new == .locked { inactiveAt = Instant(nanoseconds: .max) }
    }

    mutating func reboot() { enter(.beforeFirstUnlock) }

    /// Sets the time from `locked` to the expiry of access, counted from the lock. If that time is over, access expires now.
    /// Access that has expired stays so.
    mutating func setInactivity(_ new: TimeSpan, at now: Instant) {
        if state == .locked {
            inactiveAt = max(now, inactiveAt.advanced(by: TimeSpan(seconds: new.seconds - inactivity.seconds)))
        }
        inactivity = new
    }

    private mutating func enter(_ new: LockState) { (state, locksAt, inactiveAt) = (new, .distantPast, .distantPast) }
}

extension DeviceLock: Codable {
    private enum Member: String, CodingKey, CaseIterable { case state, locksAt, inactiveAt, inactivity }
    static let members = Member.allCases.map(\.rawValue)

    public init(from decoder: any Decoder) throws {
        let file = try decoder.container(keyedBy: Member.self)
        func moment(_ member: Member) throws -> Instant {
            try file.decodeIfPresent(Int64.self, forKey: member).map(Instant.init(nanoseconds:)) ?? .distantPast
        }
        state = try file.decodeIfPresent(LockState.self, forKey: .state) ?? .unlocked
        (locksAt, inactiveAt) = (try moment(.locksAt), try moment(.inactiveAt))
        inactivity =
            try file.decodeIfPresent(Int64.self, forKey: .inactivity).map { TimeSpan(seconds: $0) }
            ?? Self.usualInactivity
    }

    public func encode(to encoder: any Encoder) throws {
        var file = encoder.container(keyedBy: Member.self)
        if state != .unlocked { try file.encode(state, forKey: .state) }
        if locksAt != .distantPast { try file.encode(locksAt.nanoseconds, forKey: .locksAt) }
        if inactiveAt != .distantPast { try file.encode(inactiveAt.nanoseconds, forKey: .inactiveAt) }
        if inactivity != Self.usualInactivity { try file.encode(inactivity.seconds, forKey: .inactivity) }
    }
}
