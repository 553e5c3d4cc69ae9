/// The content of status.json as docs/CONTROL.md describes it, independent of the product's own type.
public struct MountStatus: Decodable, Equatable, Sendable {
    public struct Storage: Decodable, Equatable, Sendable {
        public let total, others, othersPurgeable, used, available, important, opportunistic, reclaimable: Int64
    }
    public struct Usage: Decodable, Equatable, Sendable {
        public let bytes, files: Int64
        public init(bytes: Int64, files: Int64) {
            self.bytes = bytes
            self.files = files
        }
    }
    public struct Tiers: Decodable, Equatable, Sendable { public let temporary, caches, persistent: Usage }
    public struct Marked: Decodable, Equatable, Sendable { public let purgeable, excludedFromBackup: Usage }
    public struct Thresholds: Decodable, Equatable, Sendable { public let veryLow, low, nearLow, desired: Int64 }
    public struct Device: Decodable, Equatable, Sendable {
        public let state: String
        public let clock, boots: Int64
        /// True once access to files of class `completeWhenUserInactive` has expired, otherwise nil.
        public let inactive: Bool?
    }
    public struct App: Decodable, Equatable, Sendable {
        public let container: String
        public let running: Bool
    }
    public struct Counters: Decodable, Equatable, Sendable {
        public let purgedFiles, purgedBytes, refusedWrites, protectionDenied: Int64
    }
    public let version: Int
    public let profile: String
    public let mountpoint: String?
    public let store: String
    public let storage: Storage
    public let tiers: Tiers
    public let marked: Marked
    public let pressure: String
    public let purging: Bool
    public let thresholds: Thresholds
    public let device: Device
    public let app: App
    public let counters: Counters
}
