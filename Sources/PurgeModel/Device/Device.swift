/// The simulated device: its settings, its state, and the numbers of the containers on it.
///
/// The device decides and never acts. A mutation returns effects for the volume, which has the files, the journal and the
/// threads; the device reads no clock. `device.json` is this value in its Codable form. The ledgers and the level are not in
/// the file, because they follow from the files of the store.
///
/// Outside tests, users change settings only through `apply` and `take`, which enforce the rules.
public struct Device: Hashable, Sendable {
    public internal(set) var profile = Profile.documented
    public package(set) var total = ByteCount(64 << 30) { didSet { resolveLimits() } }
    /// The simulated use by the system and other apps.
    public package(set) var others = ByteCount.zero
    /// The part of `others` that purging can free.
    public package(set) var othersPurgeable = ByteCount.zero
    /// The share of a shortfall, in percent, that others.purgeable gives before files are purged.
    public package(set) var othersShare = OthersShare.most
    /// The thresholds as the user set them.
    public package(set) var thresholds = ThresholdSettings.documented { didSet { resolveLimits() } }
    /// The real time between a request for the background purge and its start, if the profile lets the purge lag.
    public package(set) var purgeLatency = TimeSpan.usualPurgeLatency
    /// When unused files in `tmp` are due for removal.
    public package(set) var ageing = TemporaryAgeing()
    /// The protection class of new files in directories that have no class.
    public package(set) var protection = FileProtection.completeUntilFirstUserAuthentication
    /// The UUID of the simulated app container.
    public package(set) var containerID: String
    public package(set) var boots: Int64 = 1
    public package(set) var counters = Counters()
    public package(set) var lock = DeviceLock()
    /// Work that a command has begun and not finished. The next writable mount reads this mark and finishes the work.
    public package(set) var unfinished: DeviceWork?
    /// The state of the app. Only `offloaded` is saved, because every other one ends with the mount.
    public package(set) var app = AppState.terminated
    /// When the app was last in the foreground.
    public package(set) var use = AppUse()
    public package(set) var journal = JournalBounds()
    /// Seconds that the device's clock is ahead of real time.
    public package(set) var clock: Int64 = 0
    /// The advances of the clock.
    public package(set) var history = ClockHistory()
    /// Whether no more bytes are free, because of a fault (docs/FAULTS.md). Ends with the mount.
    public package(set) var isFull = false

    /// The thresholds in bytes, for the current total.
    public private(set) var limits: Thresholds
    public internal(set) var level = PressureLevel.normal
    /// Incremented with each change of `level`, so that a change back and forth is noticed too.
    public internal(set) var levelChanges: UInt64 = 0
    /// Incremented with each change that must be saved soon.
    public internal(set) var revision: UInt64 = 0
    /// One ledger for each container on the device. The tree keeps them in step with its files.
    public package(set) var ledgers = [Ledger()]

    public package(set) var reclaiming = Reclaiming()

    public init(containerID: String) {
        self.containerID = containerID
        limits = ThresholdSettings.documented.resolved(total: total)
    }

    mutating func resolveLimits() { limits = thresholds.resolved(total: total) }

    /// The device as a mount would read it from device.json: without the values that follow from the store's files or end with
    /// the mount.
    public var asSaved: Device {
        var device = self
        (device.level, device.levelChanges, device.revision, device.isFull) = (.normal, 0, 0, false)
        device.ledgers = [Ledger()]
        if app.isRunning { device.app = .terminated }
        (device.reclaiming, device.use) = (Reclaiming(), AppUse(nanoseconds: use.lastForeground?.nanoseconds))
        return device
    }

    /// Totals since the store was created. They saturate at `ByteCount.largestSetting`, because a device.json with a larger
    /// counter is refused.
    public struct Counters: Codable, Hashable, Sendable {
        public package(set) var purgedFiles: Int64 = 0
        public package(set) var purgedBytes: Int64 = 0
        public package(set) var refusedWrites: Int64 = 0
        public package(set) var protectionDenied: Int64 = 0

        public init() {}

        mutating func notePurged(files: Int64, bytes: ByteCount) {
            purgedFiles = Self.sum(purgedFiles, ByteCount(files))
            purgedBytes = Self.sum(purgedBytes, bytes)
        }
        mutating func noteRefused() { refusedWrites = Self.sum(refusedWrites, ByteCount(1)) }
        mutating func noteProtectionDenied() { protectionDenied = Self.sum(protectionDenied, ByteCount(1)) }

        private static func sum(_ counter: Int64, _ more: ByteCount) -> Int64 {
            min(.largestSetting, ByteCount(counter) + more).bytes
        }
    }
}

extension Device {
    /// The current numbers of the device, over all its containers.
    public var capacity: Capacity { Capacity(of: self) }

    /// Total less others and used, as in `capacity`; most writes need no other number.
    @inline(__always)
    public var balance: ByteCount { total - others - ledgers.used }

    /// The reclaimable bytes that no purge can choose now.
    public var held: ByteCount { ledgers.bytes(\.heldByClass, .high, self) }

    /// Returns the goal of a purge for `capacity` or `pressure`; nil if none is needed, and for every other trigger.
    public func goal(for trigger: PurgeTrigger) -> PurgeGoal? {
        switch trigger {
        case .capacity: capacity.balance < .zero ? .bytes(.zero - capacity.balance) : nil
        case .pressure: reclaiming.goal(on: self)
        default: nil
        }
    }

    /// Returns the order of a purge with this goal and trigger. A goal that names a place has the documented order.
    public func order(for goal: PurgeGoal, _ trigger: PurgeTrigger) -> PurgeOrder {
        if goal.step != nil { return .documented }
        let urgency = trigger == .pressure ? reclaimUrgency ?? .low : .high
        return profile.order(urgency, takesCaches: urgency.takesCaches(of: self))
    }

    /// The urgency of the background purge; nil if none is requested.
    public var reclaimUrgency: Urgency? { reclaiming.urgency(on: self) }

    /// Whether a background purge is requested and would find something.
    public var shouldReclaim: Bool { reclaiming.isDue(on: self) }
}

extension Capacity {
    /// Returns how much an opportunistic write may take now.
    // Not inlined, because most writes do not ask for it.
    @inline(never)
    public static func opportunistic(on device: borrowing Device) -> ByteCount {
        Capacity(of: device).available(for: .opportunistic)
    }

    fileprivate init(of device: borrowing Device) {
        let profile = device.profile
        let (atHigh, atLow) = (Urgency.high.takesCaches(of: device), Urgency.low.takesCaches(of: device))
        self.init(
            profile: profile, total: device.total, others: device.others, othersPurgeable: device.othersPurgeable,
            thresholds: device.limits)
        used = device.ledgers.used
        isFull = device.isFull
        for ledger in device.ledgers {
            reclaimableFiles += profile.bytes(of: ledger.reclaimableByClass, .high, takesCaches: atHigh)
            lowUrgencyFiles += profile.bytes(of: ledger.reclaimableByClass, .low, takesCaches: atLow)
        }
    }
}
