/// A value in device.json that is invalid for every device.
public struct DeviceFault: Error, Hashable, Sendable {
    /// The name of the member of device.json.
    public var name: String
    public var reason: String

    /// Throws the first fault of a device that was read from a file.
    static func check(_ device: Device) throws(DeviceFault) {
        let (total, others, othersPurgeable) = (device.total, device.others, device.othersPurgeable)
        for (name, size) in [("total", total), ("others", others), ("othersPurgeable", othersPurgeable)]
        where size < .zero || size > ByteCount.largestSetting {
            throw DeviceFault(name: name, reason: "\(size.bytes) is not from 0 to 2^60")
        }
        if othersPurgeable > others {
            throw DeviceFault(
                name: "othersPurgeable", reason: "\(othersPurgeable.bytes) is more than others, \(others.bytes)")
        }
        if !(0...OthersShare.most).contains(device.othersShare) {
            throw DeviceFault(name: "othersShare", reason: "\(device.othersShare) is not from 0 to 100")
        }
        for setting in [
            device.thresholds.veryLow, device.thresholds.low, device.thresholds.nearLow, device.thresholds.desired,
        ] {
            guard setting.isInRange(upTo: .largestSetting) else {
                throw DeviceFault(
                    name: "thresholds", reason: "a size is not from 0 to 2^60, or a percentage not from 0 to 100")
            }
        }
        if !isUUID(device.containerID) { throw DeviceFault(name: "containerID", reason: "it is not a UUID") }
        try checkNumbers(device)
    }

    private static func checkNumbers(_ device: Device) throws(DeviceFault) {
        let (boots, counters, clock) = (device.boots, device.counters, device.clock)
        if boots < 1 { throw DeviceFault(name: "boots", reason: "\(boots) is less than 1") }
        let counts = [
            counters.purgedFiles, counters.purgedBytes, counters.refusedWrites, counters.protectionDenied,
        ]
        if let wrong = counts.first(where: { $0 < 0 }) {
            throw DeviceFault(name: "counters", reason: "\(wrong) is less than 0")
        }
        // The limit is far above the counts of any device, and far below an overflow.
        if let wrong = (counts + [boots]).first(where: { $0 > ByteCount.largestSetting.bytes }) {
            throw DeviceFault(name: wrong == boots ? "boots" : "counters", reason: "\(wrong) is more than 2^60")
        }
        if clock < 0 || clock > Device.mostSecondsAhead {
            throw DeviceFault(name: "clock", reason: "\(clock) is not from 0 to 2^32 seconds")
        }
        for (name, span) in [("purgeLatency", device.purgeLatency), ("inactivity", device.lock.inactivity)]
        where span.seconds < 0 || span > TimeSpan.longest {
            throw DeviceFault(name: name, reason: "\(span.seconds) is not from 0 to 2^32 seconds")
        }
        if let fault = device.journal.fault { throw fault }
        if let day = device.ageing.day, !TemporaryAgeing.days.contains(day) {
            throw DeviceFault(name: "agedDay", reason: "\(day) is not a day that the device can have")
        }
        let sum = device.history.sum
        if sum > clock {
            throw DeviceFault(
                name: "clockAdvances", reason: "they add up to \(sum) seconds, and clock is \(clock)")
        }
    }

    /// Returns whether a string is a UUID in the usual form, five groups of hexadecimal digits.
    public static func isUUID(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.allSatisfy { Character(UnicodeScalar($0)).isHexDigit } }
    }
}

extension ThresholdSetting {
    fileprivate func isInRange(upTo largest: ByteCount) -> Bool {
        switch self {
        case .percent(let hundredths): (0...10_000).contains(hundredths)
        case .size(let size): size >= .zero && size <= largest
        case .capped(let hundredths, let most):
            (0...10_000).contains(hundredths) && most >= .zero && most <= largest
        }
    }
}
