/// The limits that a directory with `purgeAfter` or `sizeLimit` sets for the files below it (docs/POLICIES.md).
public struct DirectoryPolicy: Hashable, Sendable {
    /// The age at which files are purged; nil if it is not set, 0 for no limit.
    public var purgeAfter: TimeSpan?
    /// The total size at which files are purged; nil if it is not set, 0 for no limit.
    public var sizeLimit: ByteCount?

    public init(purgeAfter: TimeSpan? = nil, sizeLimit: ByteCount? = nil) {
        (self.purgeAfter, self.sizeLimit) = (purgeAfter, sizeLimit)
    }

    /// Sets one of the two attributes. A malformed value, which can only come from the store, counts as absent.
    public mutating func set(_ attribute: StorageAttribute, to value: String?) {
        switch attribute {
        case .purgeAfter: purgeAfter = value.flatMap { TimeSpan(purgeAfter: $0) }
        case .sizeLimit: sizeLimit = value.flatMap { ByteCount(text: $0) }
        case .isPurgeable, .isExcludedFromBackup, .fileProtection, .purgeGroup, .purgeTombstone: break
        }
    }

    /// Whether the directory has neither attribute, and so no policy.
    public var isEmpty: Bool { purgeAfter == nil && sizeLimit == nil }

    /// Returns when a file created at this moment reaches its age, or nil for never.
    public func due(created: Instant) -> Instant? {
        guard let purgeAfter, purgeAfter.seconds > 0 else { return nil }
        return created.advanced(by: purgeAfter)
    }

    /// Returns whether this use reaches the limit.
    public func isReached(by used: ByteCount) -> Bool {
        guard let limit = sizeLimit, limit > .zero else { return false }
        return used >= limit
    }

    /// Returns how much must be purged to leave at most half of the limit, or 0 if there is no limit.
    public func excess(of used: ByteCount) -> ByteCount {
        guard let limit = sizeLimit, limit > .zero else { return .zero }
        return max(.zero, used - ByteCount(limit.bytes / 2))
    }
}

/// How a file exceeds the policy of its directory.
public enum PolicyBreach: String, CaseIterable, Sendable {
    /// The file has reached the age.
    case age
    /// The directory has reached its limit, and the file is among the oldest, which must go.
    case size

    public var reason: PurgeReason {
        switch self {
        case .age: .policyAge
        case .size: .policySize
        }
    }
}

/// A command for all directory policies at once.
public enum PolicyCommand: String, CaseIterable, Sendable {
    /// Purges files that exceed the age or size of their policy. A launch of the app does the same.
    case check
    /// Empties all directories with a policy.
    case reset
}

extension TimeSpan {
    /// Parses a value of `purgeAfter`: a duration, `0`, or a name from mPaaS's `APPurgeableType`.
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
