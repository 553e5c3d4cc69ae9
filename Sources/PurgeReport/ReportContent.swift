import PurgeModel

/// The complete data of a report. The present numbers of the storage come from one status.
package struct ReportContent {
    struct Time {
        /// The time by the simulated device's clock, which may be ahead.
        var simulated: Instant
        var real: Instant
    }
    struct File {
        var path: String
        var charged: ByteCount
        var tier: Tier
        /// The effective mark; nil if the file has none.
        var mark: PurgeMark?
        /// The reason why a backup leaves the file out; nil if the backup includes it.
        var exclusion: BackupExclusion?
    }
    package struct Finding {
        /// `error`, `warning` or `note`.
        var severity: String
        var title: String
        var advice: String
        var path: String?
        var bytes: ByteCount?
        /// The specific observation behind this finding.
        var detail: String?

        package init(
            severity: String, title: String, advice: String, path: String? = nil, bytes: ByteCount? = nil,
            detail: String? = nil
        ) {
            (self.severity, self.title, self.advice) = (severity, title, advice)
            (self.path, self.bytes, self.detail) = (path, bytes, detail)
        }
    }
    struct Setting {
        var name: String
        var value: String
    }
    /// The end of a `purgefs run`.
    package struct Run {
        var program: String
        var ending: String
        var hasFailed: Bool
        /// Whether the store outlives the run.
        var isStoreKept: Bool

        package init(program: String, ending: String, hasFailed: Bool, isStoreKept: Bool) {
            (self.program, self.ending, self.hasFailed, self.isStoreKept) = (program, ending, hasFailed, isStoreKept)
        }
    }
    /// The use of the device at one moment.
    struct Sample {
        /// Simulated time in nanoseconds since 1970.
        var time: Int64
        var total, others, othersPurgeable, temporary, caches, persistent: ByteCount
        /// The bytes of files that were being purged.
        var moving = ByteCount.zero

        var used: ByteCount { temporary + caches + persistent + moving }
        var inUse: ByteCount { used + others }
        var free: ByteCount { max(.zero, total - inUse) }
    }

    var time: Time
    var version: String
    var run: Run?
    /// The status, or nil if the container cannot be read.
    var status: StatusReport?
    /// Warnings for the reader of the report, such as parts that are missing from it, each with the reason.
    package var remarks: [String] = []
    var samples: [Sample] = []
    var history = ReportHistory()
    var largest: [File] = []
    /// The findings; nil if the container could not be diagnosed.
    package var findings: [Finding]?
    /// The number of findings by title. For a title without a number, `findings` lists all of them.
    package var findingCounts: [String: Int64] = [:]
    /// False if the journal is known to record no events or samples.
    var isRecorded = true
    /// False if the events could not be read.
    var hasHistory = true
    var settings: [Setting] = []
    var policies: [PolicyLine] = []
}

extension ReportContent.Finding {
    /// Whether one heading and one piece of advice serve for both findings.
    func isLike(_ other: Self) -> Bool {
        severity == other.severity && title == other.title && advice == other.advice
    }
}

extension ReportContent {
    /// The span, in nanoseconds, below which several events are likely to share a second.
    private static let shortTime = 60e9

    /// The precision of times in the report.
    var precision: ReportTime.Precision {
        TimeAxis(samples.map(\.time) + history.times).even < Self.shortTime ? .milliseconds : .seconds
    }
}

extension ReportContent.Sample {
    /// Returns nil if the sample's time cannot be parsed.
    init?(_ sample: StorageSample) {
        guard let time = Instant(iso8601: sample.time) else { return nil }
        self.init(
            time: time.nanoseconds, total: sample.total, others: sample.others,
            othersPurgeable: sample.othersPurgeable, temporary: sample.temporary, caches: sample.caches,
            persistent: sample.persistent)
        moving = max(.zero, sample.used - used)
    }

    /// Creates a sample of the present from a status.
    init(_ status: StatusReport, at time: Instant) {
        self.init(
            time: time.nanoseconds, total: status.storage.total, others: status.storage.others,
            othersPurgeable: status.storage.othersPurgeable, temporary: status.tiers.temporary.bytes,
            caches: status.tiers.caches.bytes, persistent: status.tiers.persistent.bytes)
        moving = max(.zero, status.storage.used - used)
    }

    /// Returns true if both samples have the same numbers, ignoring the time.
    func hasNumbers(of other: Self) -> Bool {
        total == other.total && others == other.others && othersPurgeable == other.othersPurgeable
            && temporary == other.temporary && caches == other.caches && persistent == other.persistent
            && moving == other.moving
    }
}
