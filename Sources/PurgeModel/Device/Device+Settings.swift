/// Settings for a device that is made or mounted; nil leaves a setting unchanged.
public struct SettingsChange: Hashable, Sendable {
    public var profile: Profile?
    public var total: ByteCount?
    public var others: ByteCount?
    public var othersPurgeable: ByteCount?
    public var protection: FileProtection?
    public var purgeLatency: TimeSpan?
    public var lock: LockState?
    public init() {}

    public enum Size: Sendable { case total, others, othersPurgeable }

    /// Why settings are refused.
    public enum Refusal: Error, Hashable, Sendable {
        case outOfRange(Size, ByteCount)
        case moreThanOthers(asked: ByteCount, others: ByteCount)
    }
}

extension Device {
    /// The limit for the clock's advance in seconds, 136 years.
    static let mostSecondsAhead: Int64 = 1 << 32

    /// Applies all settings. Throws and applies none if a size is out of range or an explicit othersPurgeable exceeds others.
    public mutating func take(_ change: SettingsChange) throws(SettingsChange.Refusal) {
        self = try change.applied(to: self)
    }

    /// Checks a device that was read from a file. Throws a fault about the first invalid value.
    public func validate() throws(DeviceFault) { try DeviceFault.check(self) }

    /// The device with sizes rounded as if they had been set, for a file that was edited by hand.
    public var roundedToBlocks: Device {
        var rounded = self
        rounded.total = total.roundedDown
        rounded.others = others.roundedUp
        rounded.othersPurgeable = othersPurgeable.roundedUp
        return rounded
    }

    /// Returns the differences from an earlier saved state, in words. Counters and `ageing` are ignored.
    public func changes(since saved: Device) -> [String] { SavedDevice(saved).differences(to: self) }
}

extension SettingsChange {
    /// Rounds total down to a block, and the other sizes up. If othersPurgeable is not set, a lower value of others lowers it
    /// too.
    fileprivate func applied(to device: Device) throws(Refusal) -> Device {
        var next = device
        if let profile { next.set(profile) }
        next.purgeLatency = purgeLatency ?? next.purgeLatency
        if let lock { next.lock.start(lock) }
        if lock == .beforeFirstUnlock { next.boots = min(next.boots + 1, ByteCount.largestSetting.bytes) }
        next.protection = protection ?? next.protection
        next.total = try Self.checked(total, .total)?.roundedDown ?? next.total
        next.others = try Self.checked(others, .others)?.roundedUp ?? next.others
        guard let asked = try Self.checked(othersPurgeable, .othersPurgeable)?.roundedUp else {
            next.othersPurgeable = min(next.othersPurgeable, next.others)
            return next
        }
        guard asked <= next.others else { throw .moreThanOthers(asked: asked, others: next.others) }
        next.othersPurgeable = asked
        return next
    }

    private static func checked(_ size: ByteCount?, _ name: Size) throws(Refusal) -> ByteCount? {
        guard let size else { return nil }
        guard size >= .zero && size <= .largestSetting else { throw .outOfRange(name, size) }
        return size
    }
}

/// A device as it was saved.
private struct SavedDevice {
    private let saved: Device

    init(_ saved: Device) { self.saved = saved }

    func differences(to now: Device) -> [String] {
        let changes = [
            ("the profile", now.profile != saved.profile), ("total", now.total != saved.total),
            ("others", now.others != saved.others),
            ("the purgeable part of others", now.othersPurgeable != saved.othersPurgeable),
            ("the share of others", now.othersShare != saved.othersShare),
            ("the thresholds", now.thresholds != saved.thresholds),
            ("the latency of purging", now.purgeLatency != saved.purgeLatency),
            ("the bounds of the journal", now.journal != saved.journal),
            ("the default protection class", now.protection != saved.protection),
            ("the UUID of the container", now.containerID != saved.containerID), ("boots", now.boots != saved.boots),
            ("the time until access expires", now.lock.inactivity != saved.lock.inactivity),
            (
                "the lock state",
                (now.state, now.lock.locksAt, now.lock.inactiveAt)
                    != (saved.state, saved.lock.locksAt, saved.lock.inactiveAt)
            ),
            ("the offloading of the app", (now.app == .offloaded) != (saved.app == .offloaded)),
            ("the clock", now.clock != saved.clock || now.history != saved.history),
            (
                saved.unfinished.map { "the end of \($0.text)" } ?? "",
                saved.unfinished != nil && now.unfinished == nil
            ),
        ]
        return changes.filter(\.1).map(\.0)
    }
}
