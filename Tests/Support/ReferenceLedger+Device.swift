// The simulated device: its size, the bytes of others, its thresholds, and its pressure.
extension ReferenceLedger {
    public enum Pressure: String, Sendable {
        case normal, nearLow, low, veryLow
    }

    /// A threshold as it was set.
    public enum Threshold: Sendable {
        case bytes(Int64)
        /// A percentage, which follows the total.
        case hundredthsOfPercent(Int64)
    }

    public struct Thresholds: Sendable {
        public var veryLow, low, nearLow, desired: Threshold

        public init(veryLow: Threshold, low: Threshold, nearLow: Threshold, desired: Threshold) {
            self.veryLow = veryLow
            self.low = low
            self.nearLow = nearLow
            self.desired = desired
        }

        public static let off = Thresholds(veryLow: .bytes(0), low: .bytes(0), nearLow: .bytes(0), desired: .bytes(0))
        public static let documented = Thresholds(
            veryLow: .hundredthsOfPercent(500), low: .hundredthsOfPercent(1000), nearLow: .hundredthsOfPercent(1050),
            desired: .hundredthsOfPercent(1100))
    }

    static func roundedUp(_ bytes: Int64) -> Int64 { (bytes + block - 1) / block * block }

    func inBytes(_ threshold: Threshold) -> Int64 {
        switch threshold {
        case .bytes(let bytes): Self.roundedUp(bytes)
        case .hundredthsOfPercent(let hundredths): Self.roundedUp((total * hundredths + 9999) / 10000)
        }
    }

    /// The current values of very low, low, near low and desired. Percentages follow the total and sizes do not, so a threshold
    /// can be overtaken by the one before it; then it counts as much as that one.
    var levels: [Int64] {
        var highest: Int64 = 0
        return [thresholds.veryLow, thresholds.low, thresholds.nearLow, thresholds.desired].map {
            highest = max(highest, inBytes($0))
            return highest
        }
    }

    public var lowThreshold: Int64 { levels[1] }

    // Each accepted change purges until used + others fits total or nothing is left, and then for pressure.

    @discardableResult
    public mutating func setTotal(_ bytes: Int64) -> Purge {
        total = bytes / Self.block * Self.block
        return purgeAfterChange()
    }

    @discardableResult
    public mutating func setOthers(_ bytes: Int64) -> Purge {
        others = Self.roundedUp(bytes)
        othersPurgeable = min(othersPurgeable, others)
        return purgeAfterChange()
    }

    /// Returns nil (EINVAL) for more than others.
    @discardableResult
    public mutating func setOthersPurgeable(_ bytes: Int64) -> Purge? {
        guard bytes <= others else { return nil }
        othersPurgeable = Self.roundedUp(bytes)
        return purgeAfterChange()
    }

    @discardableResult
    public mutating func setThresholds(_ new: Thresholds) -> Purge {
        thresholds = new
        return purgeAfterChange()
    }

    private mutating func purgeAfterChange() -> Purge {
        var result = takeAway(bytes: -balance)
        let further = purgeUnderPressure()
        result.fromOthers += further.fromOthers
        result.victims += further.victims
        return result
    }

    /// Models the complete background purge: while the level is low or very low, it purges until desired is reached or nothing
    /// is left.
    @discardableResult
    public mutating func purgeUnderPressure() -> Purge {
        judgePressure()
        guard pressure == .low || pressure == .veryLow else { return Purge() }
        return purge(bytes: levels[3] - balance)
    }

    /// Updates the level. A level is entered when free space falls below its threshold. nearLow and low last until desired is
    /// reached again; very low becomes low as soon as its threshold is reached.
    mutating func judgePressure() {
        let free = available
        let levels = self.levels
        if free < levels[0] {
            pressure = .veryLow
        } else if free >= levels[3] {
            pressure = .normal
        } else if free < levels[1] || pressure == .veryLow {
            pressure = .low
        } else if free < levels[2], pressure == .normal {
            pressure = .nearLow
        }
    }
}
