extension Container {
    /// The numbers at one moment, in bytes: docs/RULES.md, Capacity.
    public struct Numbers: Hashable, Sendable {
        public var total: Int
        /// The bytes that the system and other apps use; `othersPurgeable` is the part of them that can be purged.
        public var others: Int
        public var othersPurgeable: Int
        /// The bytes that this container uses.
        public var used: Int
        /// The free bytes, not counting what purging would free.
        public var available: Int
        /// The bytes that can be written to a persistent place, including everything that would be purged for it.
        public var important: Int
        /// The bytes that can be written to `tmp`, to `Library/Caches` or to marked files.
        public var opportunistic: Int
        /// The bytes that purging would free.
        public var reclaimable: Int
        public var pressure: Pressure
    }

    /// The mount's `status.json`: docs/CONTROL.md.
    public struct Status: Hashable, Codable, Sendable {
        public struct Storage: Hashable, Codable, Sendable {
            public var total, others, othersPurgeable, used, available, important, opportunistic, reclaimable: Int
            /// In percent; nil means 100.
            public var othersShare: Int?
        }
        public struct Amount: Hashable, Codable, Sendable {
            public var bytes, files: Int
        }
        public struct Tiers: Hashable, Codable, Sendable {
            public var temporary, caches, persistent: Amount
        }
        public struct Marked: Hashable, Codable, Sendable {
            public var purgeable, excludedFromBackup: Amount
        }
        public struct Thresholds: Hashable, Codable, Sendable {
            public var veryLow, low, nearLow, desired: Int
        }
        public struct Device: Hashable, Codable, Sendable {
            public var state: DeviceState
            /// Seconds ahead of real time.
            public var clock: Double
            public var boots: Int
            /// `reboot`, `update` or `delete` while that is under way, or after it was interrupted; otherwise nil.
            public var unfinished: String?
            /// True once access to files of class `completeWhenUserInactive` has expired, otherwise nil.
            public var inactive: Bool?
        }
        public struct App: Hashable, Codable, Sendable {
            /// The UUID of the container.
            public var container: String
            public var running: Bool
            public var state: AppState
        }
        public struct Counters: Hashable, Codable, Sendable {
            public var purgedFiles, purgedBytes, refusedWrites, protectionDenied: Int
        }

        public var version: Int
        public var profile: Profile
        public var mountpoint, store: String
        public var storage: Storage
        public var tiers: Tiers
        public var marked: Marked
        public var pressure: Pressure
        public var purging: Bool
        public var thresholds: Thresholds
        public var device: Device
        public var app: App
        public var counters: Counters
    }
}

extension Container.Numbers {
    init(_ status: Container.Status) {
        let storage = status.storage
        self.init(
            total: storage.total, others: storage.others, othersPurgeable: storage.othersPurgeable,
            used: storage.used, available: storage.available, important: storage.important,
            opportunistic: storage.opportunistic, reclaimable: storage.reclaimable, pressure: status.pressure)
    }
}
