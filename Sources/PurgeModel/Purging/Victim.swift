/// A file that a purge takes, or would take, with why and when.
public struct Victim<File: Sendable>: Sendable {
    public let file: File
    /// nil for a file that only a command or a policy takes.
    public let rank: PurgeRank?
    public let age: PurgeAge
    public let reason: PurgeReason
    /// If further files are purged with it as one: the directory that they are below.
    public var unfinishedGroup: File?

    /// Without a `reason`, the rule that gives the file its rank is why.
    public init(_ file: File, rank: PurgeRank?, age: PurgeAge, reason: PurgeReason? = nil) {
        self.file = file
        self.rank = rank
        self.age = age
        self.reason = reason ?? rank?.reason(freeing: age.charged) ?? .command
    }

    /// What purging it frees.
    public var bytes: ByteCount { age.charged }
    public var tier: Tier { rank?.tier ?? .persistent }
}
