/// One line of `storage.policies`: a directory, its policy, and the number and bytes of the files under the policy.
public struct PolicyLine: Codable, Hashable, Sendable {
    public var path: String
    /// `0` for no limit; nil if the directory does not set an age.
    public var purgeAfter: String?
    /// 0 for no limit; nil if the directory does not set a size.
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
