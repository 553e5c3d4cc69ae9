/// Settings given when a device is made or mounted; nil leaves a setting unchanged.
public struct SettingsChange: Hashable, Sendable {
    public var profile: Profile?
    public var total: ByteCount?
    public var others: ByteCount?
    public var othersPurgeable: ByteCount?
    public var protection: FileProtection?
    public init() {}

    public enum Size: Sendable { case total, others, othersPurgeable }

    /// Why they are refused.
    public enum Refusal: Error, Hashable, Sendable {
        case outOfRange(Size, ByteCount)
        case moreThanOthers(asked: ByteCount, others: ByteCount)
    }
}

extension Device {
    /// How far the clock can be ahead, in seconds: 136 years.
    static let mostSecondsAhead: Int64 = 1 << 32

    /// Total is rounded down to a block, the other sizes up. If others becomes smaller, so does othersPurgeable;
    /// an othersPurgeable that was given and is more than others is refused, and then nothing has changed.
    public mutating func take(_ change: SettingsChange) throws(SettingsChange.Refusal) {
        var next = self
        next.profile = change.profile ?? profile
        next.protection = change.protection ?? protection
        next.total = try Self.checked(change.total, .total)?.roundedDown ?? total
        next.others = try Self.checked(change.others, .others)?.roundedUp ?? others
        if let asked = try Self.checked(change.othersPurgeable, .othersPurgeable)?.roundedUp {
            guard asked <= next.others else { throw .moreThanOthers(asked: asked, others: next.others) }
            next.othersPurgeable = asked
        } else {
            next.othersPurgeable = min(othersPurgeable, next.others)
        }
        self = next
    }

    private static func checked(
        _ size: ByteCount?, _ name: SettingsChange.Size
    ) throws(SettingsChange.Refusal) -> ByteCount? {
        guard let size else { return nil }
        guard size >= .zero && size <= .largestSetting else { throw .outOfRange(name, size) }
        return size
    }

    /// Throws the first value that no device can have, for a device that was read from a file.
    public func validate() throws(DeviceFault) { try DeviceFault.check(self) }

    /// Rounds sizes that were edited by hand as if they had been set.
    public var roundedToBlocks: Device {
        var rounded = self
        rounded.total = total.roundedDown
        rounded.others = others.roundedUp
        rounded.othersPurgeable = othersPurgeable.roundedUp
        return rounded
    }

    /// What has changed since an earlier state of the same device was saved, in words; the counters do not count.
    public func changes(since saved: Device) -> [String] {
        let changes = [
            ("the profile", profile != saved.profile), ("total", total != saved.total),
            ("others", others != saved.others),
            ("the purgeable part of others", othersPurgeable != saved.othersPurgeable),
            ("the share of others", othersShare != saved.othersShare),
            ("the thresholds", thresholds != saved.thresholds),
            ("the default protection class", protection != saved.protection),
            ("the UUID of the container", containerID != saved.containerID), ("boots", boots != saved.boots),
            ("the lock state", lock != saved.lock),
            ("the clock", clock != saved.clock || history != saved.history),
            (saved.unfinished.map { "the end of \($0.text)" } ?? "", saved.unfinished != nil && unfinished == nil),
        ]
        return changes.filter(\.1).map(\.0)
    }
}
