/// The four thresholds of free space, in bytes, for a certain total.
public struct Thresholds: Hashable, Codable, Sendable {
    public var veryLow: ByteCount
    public var low: ByteCount
    public var nearLow: ByteCount
    public var desired: ByteCount

    public init(veryLow: ByteCount, low: ByteCount, nearLow: ByteCount, desired: ByteCount) {
        self.veryLow = veryLow
        self.low = low
        self.nearLow = nearLow
        self.desired = desired
    }

    public static let off = Thresholds(veryLow: .zero, low: .zero, nearLow: .zero, desired: .zero)
}

/// One threshold as the user set it: a percentage follows the total, a size does not.
public enum ThresholdSetting: Hashable, Sendable {
    /// In hundredths of a percent, so that 10.5 % is exact.
    case percent(hundredths: Int64)
    case size(ByteCount)
    /// A percentage of the total, limited to a size.
    case capped(hundredths: Int64, ByteCount)

    /// Parses `512M`, `10.5%` (at most two decimals and 100 %), or `10.5%/512M` for the smaller of the two.
    public init?(text: some StringProtocol) {
        if let slash = text.firstIndex(of: "/") {
            guard case .percent(let hundredths)? = ThresholdSetting(text: text[..<slash]),
                case .size(let most)? = ThresholdSetting(text: text[text.index(after: slash)...])
            else { return nil }
            self = .capped(hundredths: hundredths, most)
            return
        }
        guard text.last == "%" else {
            guard let size = ByteCount(text: text) else { return nil }
            self = .size(size)
            return
        }
        let parts = text.dropLast().split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, whole.allSatisfy({ $0.isASCII && $0.isNumber }), let units = Int64(whole),
            units <= 100
        else { return nil }
        var hundredths = units * 100
        if parts.count == 2 {
            guard (1...2).contains(parts[1].count), parts[1].allSatisfy({ $0.isASCII && $0.isNumber }),
                let fraction = Int64(parts[1])
            else { return nil }
            hundredths += parts[1].count == 1 ? fraction * 10 : fraction
        }
        guard hundredths <= 10_000 else { return nil }
        self = .percent(hundredths: hundredths)
    }

    /// Returns the threshold for a total, rounded up to a block (docs/RULES.md, Words).
    public func resolved(total: ByteCount) -> ByteCount {
        switch self {
        case .size(let size): return size.roundedUp
        case .percent(let hundredths):
            let (whole, rest) = total.bytes.quotientAndRemainder(dividingBy: 10_000)
            return ByteCount(whole * hundredths + (rest * hundredths + 9999) / 10_000).roundedUp
        case .capped(let hundredths, let most):
            return min(
                ThresholdSetting.percent(hundredths: hundredths).resolved(total: total), most.roundedUp)
        }
    }
}

extension ThresholdSetting: Codable {
    /// The setting as a user would type it: `10.5%`, bytes, or `10.5%/` and bytes.
    public var text: String {
        switch self {
        case .size(let size): return String(size.bytes)
        case .percent(let hundredths):
            let rest = hundredths % 100
            if rest == 0 { return "\(hundredths / 100)%" }
            let fraction = rest % 10 == 0 ? "\(rest / 10)" : rest < 10 ? "0\(rest)" : "\(rest)"
            return "\(hundredths / 100).\(fraction)%"
        case .capped(let hundredths, let most):
            return ThresholdSetting.percent(hundredths: hundredths).text + "/\(most.bytes)"
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let setting = ThresholdSetting(text: text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "'\(text)' is neither a size nor a percentage")
        }
        self = setting
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// The four thresholds as the user set them.
public struct ThresholdSettings: Hashable, Codable, Sendable {
    public var veryLow: ThresholdSetting
    public var low: ThresholdSetting
    public var nearLow: ThresholdSetting
    public var desired: ThresholdSetting

    /// 5 %, 10 %, 10.5 % and 11 % of total (docs/RULES.md, Pressure).
    public static let documented = ThresholdSettings(
        veryLow: .percent(hundredths: 500), low: .percent(hundredths: 1000),
        nearLow: .percent(hundredths: 1050), desired: .percent(hundredths: 1100))
    /// The percentages of `documented`, but at most 512 MiB, 1 GiB, 1.1 GiB (rounded up to a block) and 1.25 GiB.
    public static let capped = ThresholdSettings(
        veryLow: .capped(hundredths: 500, ByteCount(512 << 20)), low: .capped(hundredths: 1000, ByteCount(1 << 30)),
        nearLow: .capped(hundredths: 1050, ByteCount(blocks: 288_359)),
        desired: .capped(hundredths: 1100, ByteCount(1280 << 20)))
    /// No background purge, and no reserve (docs/CONTROL.md).
    public static let off = ThresholdSettings(
        veryLow: .size(.zero), low: .size(.zero), nearLow: .size(.zero), desired: .size(.zero))

    public init(
        veryLow: ThresholdSetting, low: ThresholdSetting, nearLow: ThresholdSetting, desired: ThresholdSetting
    ) {
        self.veryLow = veryLow
        self.low = low
        self.nearLow = nearLow
        self.desired = desired
    }

    /// Returns the thresholds for a total, in ascending order. A smaller total lowers the thresholds set as percentages but not
    /// those set as sizes, so a threshold that falls below its predecessor is raised to it.
    public func resolved(total: ByteCount) -> Thresholds {
        var now = asSet(total: total)
        now.low = max(now.low, now.veryLow)
        now.nearLow = max(now.nearLow, now.low)
        now.desired = max(now.desired, now.nearLow)
        return now
    }

    /// Returns the settings with every threshold that equals its value in `old` replaced by its value in `new`.
    func replacing(_ old: ThresholdSettings, by new: ThresholdSettings) -> ThresholdSettings {
        ThresholdSettings(
            veryLow: veryLow == old.veryLow ? new.veryLow : veryLow, low: low == old.low ? new.low : low,
            nearLow: nearLow == old.nearLow ? new.nearLow : nearLow,
            desired: desired == old.desired ? new.desired : desired)
    }

    private func asSet(total: ByteCount) -> Thresholds {
        Thresholds(
            veryLow: veryLow.resolved(total: total), low: low.resolved(total: total),
            nearLow: nearLow.resolved(total: total), desired: desired.resolved(total: total))
    }

    /// Returns the settings after a change, or nil if the result is not in ascending order for this total.
    public func applying(_ change: ThresholdChange, total: ByteCount) -> ThresholdSettings? {
        let result = change.applied(to: self)
        let now = result.asSet(total: total)
        return now.veryLow <= now.low && now.low <= now.nearLow && now.nearLow <= now.desired ? result : nil
    }
}
