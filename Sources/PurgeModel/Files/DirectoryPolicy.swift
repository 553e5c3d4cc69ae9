/// What a directory with `purgeAfter` or `sizeLimit` does with the files below it (docs/POLICIES.md).
public struct DirectoryPolicy: Hashable, Sendable {
    /// How old files get; nil if it is not set, and 0 if they may get as old as they like.
    public var purgeAfter: TimeSpan?
    /// The size that they may not reach together; nil if it is not set, and 0 if there is none.
    public var sizeLimit: ByteCount?

    public init(purgeAfter: TimeSpan? = nil, sizeLimit: ByteCount? = nil) {
        (self.purgeAfter, self.sizeLimit) = (purgeAfter, sizeLimit)
    }

    /// The value of one of the two attributes; a bad one, which only the store can have, counts as none.
    public mutating func set(_ attribute: StorageAttribute, to value: String?) {
        switch attribute {
        case .purgeAfter: purgeAfter = value.flatMap { TimeSpan(purgeAfter: $0) }
        case .sizeLimit: sizeLimit = value.flatMap { ByteCount(text: $0) }
        case .isPurgeable, .isExcludedFromBackup, .fileProtection, .purgeGroup, .purgeTombstone: break
        }
    }

    /// The directory has neither attribute, and so no policy.
    public var isEmpty: Bool { purgeAfter == nil && sizeLimit == nil }

    /// When a file that was created at a moment has reached its age; nil for never.
    public func due(created: Instant) -> Instant? {
        guard let purgeAfter, purgeAfter.seconds > 0 else { return nil }
        return created.advanced(by: purgeAfter)
    }

    /// Whether this use has reached the limit.
    public func isReached(by used: ByteCount) -> Bool {
        guard let limit = sizeLimit, limit > .zero else { return false }
        return used >= limit
    }

    /// How much of this use must go for at most half of the limit to be left; 0 if there is no limit.
    public func excess(of used: ByteCount) -> ByteCount {
        guard let limit = sizeLimit, limit > .zero else { return .zero }
        return max(.zero, used - ByteCount(limit.bytes / 2))
    }
}

/// Why a file is over the policy of its directory.
public enum PolicyBreach: String, CaseIterable, Sendable {
    /// It has reached the age.
    case age
    /// The directory has reached its limit, and the file is among the oldest, which have to go.
    case size

    public var reason: PurgeReason {
        switch self {
        case .age: .policyAge
        case .size: .policySize
        }
    }
}

/// What can be done about all directory policies at once.
public enum PolicyCommand: String, CaseIterable, Sendable {
    /// Removes what is over age, and what is over a size: what the launch of the app does.
    case check
    /// Empties all directories that have a policy.
    case reset
}

extension TimeSpan {
    /// The value of `purgeAfter`: a duration, `0`, or one of the names of mPaaS's `APPurgeableType`.
    public init?(purgeAfter text: some StringProtocol) {
        switch text {
        case "0", "manual": self.init(seconds: 0)
        case "threeDays": self.init(text: "3d")
        case "oneWeek": self.init(text: "7d")
        case "twoWeeks": self.init(text: "14d")
        case "oneMonth": self.init(text: "30d")
        default: self.init(text: text)
        }
    }
}
