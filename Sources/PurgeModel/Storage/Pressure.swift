/// The pressure on the device's free space.
public enum PressureLevel: String, Codable, Sendable {
    case normal, nearLow, low, veryLow

    /// 0 for `normal`; higher is worse.
    public var severity: Int {
        switch self {
        case .normal: 0
        case .nearLow: 1
        case .low: 2
        case .veryLow: 3
        }
    }

    /// Returns the level after free space has changed to `free` (docs/RULES.md, Pressure). A level begins below its own
    /// threshold. The levels `nearLow` and `low` last until `desired` is reached; `veryLow` becomes `low` as soon as free
    /// space is back at its threshold.
    public func following(free: ByteCount, thresholds: Thresholds) -> PressureLevel {
        if free < thresholds.veryLow { return .veryLow }
        if free >= thresholds.desired { return .normal }
        if free < thresholds.low || self == .low || self == .veryLow { return .low }
        if free < thresholds.nearLow || self == .nearLow { return .nearLow }
        return .normal
    }
}
