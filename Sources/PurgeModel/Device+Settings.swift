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

/// A value that no device can have.
public struct DeviceFault: Error, Hashable, Sendable {
    /// The name of the member of device.json.
    public var name: String
    public var reason: String
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
    public func validate() throws(DeviceFault) {
        for (name, size) in [("total", total), ("others", others), ("othersPurgeable", othersPurgeable)]
        where size < .zero || size > ByteCount.largestSetting {
            throw DeviceFault(name: name, reason: "\(size.bytes) is not from 0 to 2^60")
        }
        if othersPurgeable > others {
            throw DeviceFault(
                name: "othersPurgeable", reason: "\(othersPurgeable.bytes) is more than others, \(others.bytes)")
        }
        for setting in [thresholds.veryLow, thresholds.low, thresholds.nearLow, thresholds.desired] {
            guard setting.isInRange(upTo: .largestSetting) else {
                throw DeviceFault(
                    name: "thresholds", reason: "a size is not from 0 to 2^60, or a percentage not from 0 to 100")
            }
        }
        if !Self.isUUID(containerID) { throw DeviceFault(name: "containerID", reason: "it is not a UUID") }
        try validateNumbers()
    }

    private func validateNumbers() throws(DeviceFault) {
        if boots < 1 { throw DeviceFault(name: "boots", reason: "\(boots) is less than 1") }
        let counts = [
            counters.purgedFiles, counters.purgedBytes, counters.refusedWrites, counters.protectionDenied,
        ]
        if let wrong = counts.first(where: { $0 < 0 }) {
            throw DeviceFault(name: "counters", reason: "\(wrong) is less than 0")
        }
        // Far more than any device reaches, and far from an overflow.
        if let wrong = (counts + [boots]).first(where: { $0 > ByteCount.largestSetting.bytes }) {
            throw DeviceFault(name: wrong == boots ? "boots" : "counters", reason: "\(wrong) is more than 2^60")
        }
        if clock < 0 || clock > Self.mostSecondsAhead {
            throw DeviceFault(name: "clock", reason: "\(clock) is not from 0 to 2^32 seconds")
        }
    }

    private static func isUUID(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.allSatisfy { Character(UnicodeScalar($0)).isHexDigit } }
    }

    /// Rounds sizes that were edited by hand as if they had been set.
    public var roundedToBlocks: Device {
        var rounded = self
        rounded.total = total.roundedDown
        rounded.others = others.roundedUp
        rounded.othersPurgeable = othersPurgeable.roundedUp
        return rounded
    }

    /// Whether another device has the same settings and state, whatever its counters.
    public func isSame(butForCounters other: Device) -> Bool {
        var (mine, theirs) = (asSaved, other.asSaved)
        (mine.counters, theirs.counters) = (Counters(), Counters())
        return mine == theirs
    }
}

extension ThresholdSetting {
    fileprivate func isInRange(upTo largest: ByteCount) -> Bool {
        switch self {
        case .percent(let hundredths): (0...10_000).contains(hundredths)
        case .size(let size): size >= .zero && size <= largest
        }
    }
}
