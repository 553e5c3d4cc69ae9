/// The simulated device: its settings, its state, and the numbers of the containers on it.
///
/// It decides and never acts. A mutation returns effects, which the volume carries out, since that has the files,
/// the journal and the threads; no clock is read here. `device.json` is this value in its Codable form. The
/// ledgers and the level are not in the file, because they follow from the files of the store.
///
/// Outside of tests, settings change only through `apply` and `take`, which enforce the rules.
public struct Device: Hashable, Sendable {
    public internal(set) var profile = Profile.documented
    public package(set) var total = ByteCount(64 << 30) { didSet { resolveLimits() } }
    /// What the system and other apps use, simulated.
    public package(set) var others = ByteCount.zero
    /// The part of others that purging frees.
    public package(set) var othersPurgeable = ByteCount.zero
    /// How many percent of what is short that part gives before files do.
    public package(set) var othersShare = OthersShare.most
    /// As they were set.
    public package(set) var thresholds = ThresholdSettings.documented { didSet { resolveLimits() } }
    /// How long after it is called for purging in the background begins, in real time, if the profile lets it lag.
    public package(set) var purgeLatency = TimeSpan.usualPurgeLatency
    /// When files of `tmp` are looked at for their age.
    public package(set) var ageing = TemporaryAgeing()
    /// The protection class of new files in directories that have none.
    public package(set) var protection = FileProtection.completeUntilFirstUserAuthentication
    /// UUID of the simulated app container.
    public package(set) var containerID: String
    public package(set) var boots: Int64 = 1
    public package(set) var counters = Counters()
    public package(set) var lock = DeviceLock()
    /// What a command has begun and not finished. A device that is read from its file with such a mark finishes it.
    public package(set) var unfinished: DeviceWork?
    /// Whether the app runs. It does not outlive the mount, so no file has it.
    public package(set) var isRunning = false
    public package(set) var journal = JournalBounds()
    /// Seconds that the device's clock is ahead of real time.
    public package(set) var clock: Int64 = 0
    /// When it was advanced.
    public package(set) var history = ClockHistory()

    /// The thresholds in bytes, for the current total.
    public private(set) var limits: Thresholds
    public internal(set) var level = PressureLevel.normal
    /// Incremented when `level` changes, so that a change back is seen too.
    public internal(set) var levelChanges: UInt64 = 0
    /// Incremented by each change that is to be saved soon.
    public internal(set) var revision: UInt64 = 0
    /// One for each container on the device. The tree keeps them in step with its files.
    public package(set) var ledgers = [Ledger()]

    public package(set) var reclaiming = Reclaiming()

    public init(containerID: String) {
        self.containerID = containerID
        limits = ThresholdSettings.documented.resolved(total: total)
    }

    mutating func resolveLimits() { limits = thresholds.resolved(total: total) }

    /// As read from its file, that is, without what follows from the files of the store.
    public var asSaved: Device {
        var device = self
        (device.level, device.levelChanges, device.revision, device.ledgers) = (.normal, 0, 0, [Ledger()])
        device.isRunning = false
        device.reclaiming = Reclaiming()
        return device
    }

    /// What has been counted since the store was made. Counters saturate at `ByteCount.largestSetting`, because a
    /// device.json with a larger one is refused.
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
    /// The current numbers of all containers together.
    public var capacity: Capacity { Capacity(of: self) }

    /// total - others - used, as in `capacity`, of which most writes need no more.
    @inline(__always)
    public var balance: ByteCount { total - others - ledgers.used }

    /// Reclaimable bytes that no purge can choose now.
    public var held: ByteCount { ledgers.bytes(\.heldByClass, .high, self) }

    /// What a purge for this reason aims at now; nil if nothing is short.
    public func goal(for trigger: PurgeTrigger) -> PurgeGoal? {
        switch trigger {
        case .capacity: capacity.balance < .zero ? .bytes(.zero - capacity.balance) : nil
        case .pressure: reclaiming.goal(on: self)
        default: nil
        }
    }

    /// What such a purge takes, and in which order. A place that is named is taken as it is.
    public func order(for goal: PurgeGoal, _ trigger: PurgeTrigger) -> PurgeOrder {
        if goal.step != nil { return .documented }
        return profile.order(trigger == .pressure ? reclaimUrgency ?? .low : .high, isRunning: isRunning)
    }

    /// How urgent purging in the background is; nil if none is called for.
    public var reclaimUrgency: Urgency? { reclaiming.urgency(on: self) }

    /// Whether a background purge is called for, and would find something.
    public var shouldReclaim: Bool { reclaiming.isDue(on: self) }
}

extension Capacity {
    /// What an opportunistic write may take now.
    // Not inlined, because most writes do not ask for it.
    @inline(never)
    public static func opportunistic(on device: borrowing Device) -> ByteCount {
        Capacity(of: device).available(for: .opportunistic)
    }

    fileprivate init(of device: borrowing Device) {
        let (profile, isRunning) = (device.profile, device.isRunning)
        self.init(
            profile: profile, total: device.total, others: device.others, othersPurgeable: device.othersPurgeable,
            thresholds: device.limits)
        used = device.ledgers.used
        for ledger in device.ledgers {
            reclaimableFiles += profile.bytes(of: ledger.reclaimableByClass, .high, isRunning: isRunning)
            lowUrgencyFiles += profile.bytes(of: ledger.reclaimableByClass, .low, isRunning: isRunning)
        }
    }
}
