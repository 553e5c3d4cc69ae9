import FoundationEssentials
import PurgeModel

extension DeviceSettings {
    private static let largest = ByteCount(1 << 60)

    /// A device that was never used before, with an app container of its own.
    public static func fresh() -> DeviceSettings { DeviceSettings(containerID: UUID().uuidString) }

    /// Takes over what was given on the command line. Total is rounded down to a block, the others
    /// up (docs/RULES.md, Words); others that become smaller take othersPurgeable with them, one that was
    /// asked for and is more than others is refused, and then nothing has changed.
    public mutating func apply(_ change: SettingsChange) throws(StoreError) {
        var next = self
        next.profile = change.profile ?? profile
        next.protection = change.protection ?? protection
        next.total = try Self.checked(change.total, "--total")?.roundedDown ?? total
        next.others = try Self.checked(change.others, "--others")?.roundedUp ?? others
        if let asked = try Self.checked(change.othersPurgeable, "--others-purgeable")?.roundedUp {
            guard asked <= next.others else {
                throw StoreError(
                    "\(asked.bytes) is more than the \(next.others.bytes) bytes of others, which it is a part of",
                    path: "--others-purgeable", advice: "Give a smaller size, or more with --others.")
            }
            next.othersPurgeable = asked
        } else {
            next.othersPurgeable = min(othersPurgeable, next.others)
        }
        self = next
    }

    private static func checked(_ size: ByteCount?, _ option: String) throws(StoreError) -> ByteCount? {
        guard let size else { return nil }
        guard size >= .zero && size <= largest else {
            throw StoreError(
                "\(size.bytes) is not a size that a device can have", path: option,
                advice: "Give a size from 0 to 1 EiB, as 64G or 64GB.")
        }
        return size
    }

    /// What device.json may hold; one edited by hand is held to it too.
    func validate() throws(SettingsDamage) {
        let sizes = [("total", total), ("others", others), ("othersPurgeable", othersPurgeable)]
        for (name, size) in sizes where size < .zero || size > Self.largest {
            throw .value(name: name, "\(size.bytes) is not from 0 to 2^60")
        }
        if othersPurgeable > others {
            throw .value(name: "othersPurgeable", "\(othersPurgeable.bytes) is more than others, \(others.bytes)")
        }
        for setting in [thresholds.veryLow, thresholds.low, thresholds.nearLow, thresholds.desired] {
            guard setting.isInRange(upTo: Self.largest) else {
                throw .value(name: "thresholds", "a size is not from 0 to 2^60, or a percentage not from 0 to 100")
            }
        }
        if UUID(uuidString: containerID) == nil { throw .value(name: "containerID", "it is not a UUID") }
        if boots < 1 { throw .value(name: "boots", "\(boots) is less than 1") }
        let counts = [
            counters.purgedFiles, counters.purgedBytes, counters.refusedWrites, counters.protectionDenied,
        ]
        if let wrong = counts.first(where: { $0 < 0 }) { throw .value(name: "counters", "\(wrong) is less than 0") }
        // Far beyond what a device lives to see, and far from where counting on would overflow.
        if let wrong = (counts + [boots]).first(where: { $0 > Self.largest.bytes }) {
            throw .value(name: wrong == boots ? "boots" : "counters", "\(wrong) is more than 2^60")
        }
    }

    /// Sizes edited by hand, as if they had been set.
    func roundedToBlocks() -> DeviceSettings {
        var rounded = self
        rounded.total = total.roundedDown
        rounded.others = others.roundedUp
        rounded.othersPurgeable = othersPurgeable.roundedUp
        return rounded
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
