/// A file that a purge takes, or would take, with its reason and its place in the order.
public struct Victim<File: Sendable>: Sendable {
    public let file: File
    /// nil for a file that only a command or a policy takes.
    public let rank: PurgeRank?
    public let age: PurgeAge
    public let reason: PurgeReason
    /// The group's directory, if further files of the group are purged with this one.
    public var unfinishedGroup: File?

    /// Without `reason`, the reason follows from the rank and the charged bytes; without a rank either, it is `command`.
    public init(_ file: File, rank: PurgeRank?, age: PurgeAge, reason: PurgeReason? = nil) {
        self.file = file
        self.rank = rank
        self.age = age
        self.reason = reason ?? rank?.reason(freeing: age.charged) ?? .command
    }

    /// The bytes that purging the file frees.
    public var bytes: ByteCount { age.charged }
    public var tier: Tier { rank?.tier ?? .persistent }
}
