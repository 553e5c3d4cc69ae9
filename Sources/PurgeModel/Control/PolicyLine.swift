/// A line of `storage.policies`: a directory, its policy, and what belongs to it.
public struct PolicyLine: Codable, Hashable, Sendable {
    public var path: String
    /// `0` if files may get as old as they like; nil if it is not set.
    public var purgeAfter: String?
    /// 0 if there is none; nil if it is not set.
    public var sizeLimit: ByteCount?
    public var used: ByteCount
    public var files: Int64

    public init(path: String, _ policy: DirectoryPolicy, used: ByteCount, files: Int64) {
        self.path = path
        purgeAfter = policy.purgeAfter.map { $0.seconds == 0 ? "0" : $0.text }
        sizeLimit = policy.sizeLimit
        (self.used, self.files) = (used, files)
    }
}
