/// The result of an audit, as `purgefs backup audit --json` prints it. Bytes are file sizes, and each file is counted once.
public struct BackupAuditReport: Hashable, Codable, Sendable {
    public struct Folder: Hashable, Codable, Sendable {
        public var path: String
        public var bytes: ByteCount
        public var files: Int64
    }
    public struct InTier: Hashable, Codable, Sendable {
        public var tier: Tier
        /// The bytes in the container.
        public var bytes: ByteCount
        public var files: Int64
        public var inBackup: ByteCount
    }
    public struct LeftOut: Hashable, Codable, Sendable {
        public var reason: BackupExclusion
        public var bytes: ByteCount
        public var files: Int64
    }
    public struct File: Hashable, Codable, Sendable {
        public var path: String
        public var bytes: ByteCount
    }

    /// The bytes in the backup.
    public var bytes: ByteCount
    public var files: Int64
    /// `folders` and `largest` begin with the most bytes, and `findings` with the worst. `tiers` and `leftOut` are in
    /// declaration order; `leftOut` omits reasons without files.
    public var folders: [Folder]
    public var tiers: [InTier]
    public var leftOut: [LeftOut]
    public var largest: [File]
    public var findings: [BackupFinding]
}
