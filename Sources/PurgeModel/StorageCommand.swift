/// A parsed write to one of the storage.* control files (docs/CONTROL.md).
public enum SizeChange: Hashable, Sendable {
    case to(ByteCount)
    case by(ByteCount)

    /// A size, `+size` or `-size`.
    public init?(text: some StringProtocol) {
        switch text.first {
        case "+":
            guard let size = ByteCount(text: text.dropFirst()) else { return nil }
            self = .by(size)
        case "-":
            guard let size = ByteCount(text: text.dropFirst()) else { return nil }
            self = .by(ByteCount(-size.bytes))
        default:
            guard let size = ByteCount(text: text) else { return nil }
            self = .to(size)
        }
    }

    /// nil if the result would be below zero or above `ByteCount.largestSetting`.
    public func applied(to current: ByteCount) -> ByteCount? {
        switch self {
        case .to(let size): return size
        case .by(let difference):
            let sum = current.bytes.addingReportingOverflow(difference.bytes)
            return sum.overflow || sum.partialValue < 0 || sum.partialValue > ByteCount.largestSetting.bytes
                ? nil : ByteCount(sum.partialValue)
        }
    }
}

/// What `storage.reclaim` and `storage.plan` accept: a size, `tmp`, `caches`, `purgeable` or `all`.
public enum ReclaimCommand: Hashable, Sendable {
    case bytes(ByteCount)
    case temporary, caches, purgeable, all

    public init?(text: some StringProtocol) {
        switch text {
        case "tmp": self = .temporary
        case "caches": self = .caches
        case "purgeable": self = .purgeable
        case "all": self = .all
        default:
            guard let size = ByteCount(text: text) else { return nil }
            self = .bytes(size)
        }
    }

    /// In the form that `init` reads.
    public var text: String {
        switch self {
        case .bytes(let size): "\(size.bytes)"
        case .temporary: "tmp"
        case .caches: "caches"
        case .purgeable: "purgeable"
        case .all: "all"
        }
    }

    public var goal: PurgeGoal {
        switch self {
        case .bytes(let size): .bytes(size)
        case .temporary: .step(.temporary)
        case .caches: .step(.caches)
        case .purgeable: .step(.marked)
        case .all: .all
        }
    }

    /// Empty files and symbolic links free nothing: only a command that names a whole
    /// place takes them (docs/RULES.md, Order of purging).
    public var takesEmptyFiles: Bool {
        if case .bytes = self { false } else { true }
    }
}
