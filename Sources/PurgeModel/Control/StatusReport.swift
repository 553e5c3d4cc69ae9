/// The content of `status.json` (docs/CONTROL.md).
public struct StatusReport: Codable, Sendable {
    public struct Storage: Codable, Sendable {
        public var total, others, othersPurgeable, used, available, important, opportunistic, reclaimable: ByteCount
        /// The share in percent; nil for 100.
        public var othersShare: Int?
    }
    public struct Usage: Codable, Hashable, Sendable {
        public var bytes: ByteCount
        public var files: Int64
        public init(bytes: ByteCount = .zero, files: Int64 = 0) {
            self.bytes = bytes
            self.files = files
        }
    }
    public struct Tiers: Codable, Sendable {
        public var temporary, caches, persistent: Usage
    }
    public struct Marked: Codable, Sendable {
        public var purgeable, excludedFromBackup: Usage
        public init(purgeable: Usage, excludedFromBackup: Usage) {
            self.purgeable = purgeable
            self.excludedFromBackup = excludedFromBackup
        }
    }
    public struct Device: Codable, Sendable {
        public var state: String
        /// Seconds ahead of real time.
        public var clock: Int64
        public var boots: Int64
        /// Interrupted work that the next writable mount finishes.
        public var unfinished: DeviceWork?
        /// True once access to files of class `completeWhenUserInactive` has expired, otherwise nil.
        public var inactive: Bool?
        public init(state: String, clock: Int64, boots: Int64, unfinished: DeviceWork? = nil) {
            self.state = state
            self.clock = clock
            self.boots = boots
            self.unfinished = unfinished
        }

        /// The state that decides which data can be reached; nil for an unknown state.
        public var lockState: LockState? { inactive == true ? .inactive : LockState(rawValue: state) }
    }
    public struct App: Codable, Sendable {
        public var container: String
        public var running: Bool
        public var state: AppState
        public init(container: String, state: AppState) {
            self.container = container
            running = state.isRunning
            self.state = state
        }
    }
    public struct Counters: Codable, Hashable, Sendable {
        public var purgedFiles, purgedBytes, refusedWrites, protectionDenied: Int64
        public init() { (purgedFiles, purgedBytes, refusedWrites, protectionDenied) = (0, 0, 0, 0) }
    }

    public var version = 1
    public var profile: String
    public var mountpoint: String?
    public var store: String
    public var storage: Storage
    public var tiers: Tiers
    public var marked: Marked
    public var pressure: PressureLevel
    public var purging: Bool
    public var thresholds: Thresholds
    public var device: Device
    public var app: App
    public var counters: Counters
    /// How requests come from the kernel: `ring` or `dev`; nil if the container is not mounted.
    public var transport: String?

    public init(
        profile: String, mountpoint: String?, store: String, capacity: Capacity, tiers: Tiers, marked: Marked,
        pressure: PressureLevel, purging: Bool, device: Device, app: App, counters: Counters
    ) {
        self.profile = profile
        self.mountpoint = mountpoint
        self.store = store
        storage = Storage(
            total: capacity.total, others: capacity.others, othersPurgeable: capacity.othersPurgeable,
            used: capacity.used, available: capacity.free, important: capacity.important,
            opportunistic: capacity.opportunistic, reclaimable: capacity.reclaimable)
        self.tiers = tiers
        self.marked = marked
        self.pressure = pressure
        self.purging = purging
        thresholds = capacity.thresholds
        self.device = device
        self.app = app
        self.counters = counters
    }
}

extension StatusReport.Tiers {
    public init(_ usage: (Tier) -> StatusReport.Usage) {
        temporary = usage(.temporary)
        caches = usage(.caches)
        persistent = usage(.persistent)
    }
}
