import PurgeModel

/// Everything that a report shows. All numbers about the present come from one status.
package struct ReportContent {
    /// When the report was made.
    struct Time {
        /// By the clock of the simulated device, which may be ahead.
        var simulated: Instant
        var real: Instant
    }
    struct File {
        var path: String
        var charged: ByteCount
        var tier: Tier
        /// The effective mark; nil if there is none.
        var mark: PurgeMark?
        /// Why it is not in a backup; nil if it is.
        var exclusion: BackupExclusion?
    }
    package struct Finding {
        var title: String
        var advice: String
        var path: String?
        var bytes: ByteCount?
        /// What exactly was found.
        var detail: String?

        package init(title: String, advice: String, path: String? = nil, bytes: ByteCount? = nil, detail: String? = nil)
        {
            (self.title, self.advice, self.path, self.bytes, self.detail) = (title, advice, path, bytes, detail)
        }
    }
    struct Setting {
        var name: String
        var value: String
    }
    /// How a run has ended.
    package struct Run {
        var program: String
        var ending: String
        /// Whether the store is still there afterwards.
        var isStoreKept: Bool

        package init(program: String, ending: String, isStoreKept: Bool) {
            (self.program, self.ending, self.isStoreKept) = (program, ending, isStoreKept)
        }
    }
    /// What was in use at a moment.
    struct Sample {
        /// In nanoseconds since 1970, simulated.
        var time: Int64
        var total, others, othersPurgeable, temporary, caches, persistent: ByteCount
        /// Bytes of files that were being purged.
        var moving = ByteCount.zero

        var used: ByteCount { temporary + caches + persistent + moving }
        var inUse: ByteCount { used + others }
        var free: ByteCount { max(.zero, total - inUse) }
    }

    var time: Time
    var version: String
    var run: Run?
    /// nil if the container cannot be read.
    var status: StatusReport?
    /// What is missing from the report, and why.
    package var remarks: [String] = []
    var samples: [Sample] = []
    var history = ReportHistory()
    var largest: [File] = []
    /// Nil if there are none because they could not be looked for.
    package var findings: [Finding]?
    /// How many there are of each title; without a number, as many as are in `findings`.
    package var findingCounts: [String: Int64] = [:]
    /// Whether the journal records events and samples, as far as is known.
    var isRecorded = true
    var settings: [Setting] = []
    var policies: [PolicyLine] = []
}

extension ReportContent {
    /// In nanoseconds: within so short a time, several things happen in one second.
    private static let shortTime = 60e9

    /// How exactly the report says times.
    var precision: ReportTime.Precision {
        TimeAxis(samples.map(\.time) + history.times).even < Self.shortTime ? .milliseconds : .seconds
    }
}

extension ReportContent.Sample {
    /// nil for one whose time cannot be understood.
    init?(_ sample: StorageSample) {
        guard let time = Instant(iso8601: sample.time) else { return nil }
        self.init(
            time: time.nanoseconds, total: sample.total, others: sample.others,
            othersPurgeable: sample.othersPurgeable, temporary: sample.temporary, caches: sample.caches,
            persistent: sample.persistent)
        moving = max(.zero, sample.used - used)
    }

    /// What a status says is true now.
    init(_ status: StatusReport, at time: Instant) {
        self.init(
            time: time.nanoseconds, total: status.storage.total, others: status.storage.others,
            othersPurgeable: status.storage.othersPurgeable, temporary: status.tiers.temporary.bytes,
            caches: status.tiers.caches.bytes, persistent: status.tiers.persistent.bytes)
        moving = max(.zero, status.storage.used - used)
    }

    /// Whether the same was in use, whenever that was.
    func hasNumbers(of other: Self) -> Bool {
        total == other.total && others == other.others && othersPurgeable == other.othersPurgeable
            && temporary == other.temporary && caches == other.caches && persistent == other.persistent
            && moving == other.moving
    }
}
