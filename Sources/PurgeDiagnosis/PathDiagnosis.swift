import Glibc
import PurgeCommandLine
import PurgeModel
import PurgeSystem

/// The checklist for one file, folder or link, as `purgefs diagnose PATH --json` prints it (docs/DIAGNOSIS.md).
struct PathDiagnosis: Encodable {
    struct Location: Encodable {
        var tier: Tier
        /// The reason why the file, or a folder's files, may be purged without the app asking; nil if no purge may take them.
        var purgedBy: PurgeReason?
        var names: Int
    }
    struct Protection: Encodable {
        var `class`: FileProtection
        /// True for the file's own class, false for the device's default.
        var isOwn: Bool
        var state: LockState
        var canBeOpened: Bool
    }
    struct Backup: Encodable {
        var isIncluded: Bool
        var reason: BackupExclusion?
        /// The entry's own flag; nil if it is not set.
        var ownFlag: Bool?
        /// The topmost ancestor folder whose own flag excludes the entry from the backup.
        var excludedBy: String?
    }
    struct Purging: Encodable {
        /// `0` or an urgency; nil without a mark.
        var ownMark: String?
        var inheritedMark: String?
        var inheritedFrom: String?
        var policy: Policy?
        var group: String?
        var leavesTombstone: Bool
    }
    struct Policy: Encodable {
        var path: String
        /// The age in seconds.
        var purgeAfter: Int64?
        var sizeLimit: ByteCount?
    }
    struct State: Encodable {
        var bytes: ByteCount?
        var charged: ByteCount?
        var modified: String
        var lastUse: String?
        var emptiness: Emptiness?
    }
    /// The reason why a file is empty.
    enum Emptiness: String, Encodable {
        case writeRefused, emptiedByPurge, leftEmpty
    }
    struct History: Encodable {
        var purges: Int32
        var lastPurge: String?
        var refusedWrites: Int32
        var lastRefusal: String?
        var protectionDenied: Int32
        var lastDenial: String?
    }
    struct Device: Encodable {
        var pressure: PressureLevel
        var available: ByteCount
        var total: ByteCount
        /// The threshold `low`. In profile `documented`, the background purge begins when free space falls below it.
        var lowBelow: ByteCount
    }

    var path: String
    var kind: DiagnosedEntry.Kind
    var location: Location
    var protection: Protection?
    var backup: Backup
    var purging: Purging
    var state: State
    /// The sum of the parent folder, or of the folder itself if the path names a folder.
    var folder: FolderSum
    var device: Device
    var history: History
    var findings: [DiagnosisFinding]
    /// The number of findings for each rule; `findings` lists at most 1000 of each.
    var rules: [DiagnosisReport.Count]
}

extension PathDiagnosis {
    /// `inner` is relative to the container. If it names a link, the history of the link's target is read too.
    init(of inner: [UInt8], in container: DiagnosedContainer) throws(CommandFailure) {
        let reader = DiagnosisReader(container: container)
        var (parent, found) = try reader.find(inner)
        if found.entry.kind == .symbolicLink, let name = found.name, let target = reader.target(of: name, in: parent),
            target != found.path
        {
            container.readHistory(of: String(decoding: target, as: UTF8.self))
            (parent, found) = try reader.find(inner)
        }
        let entry = found.entry
        let outcome = try Self.outcome(found, parent, in: container)
        self.init(
            path: entry.path.isEmpty ? "." : entry.path, kind: entry.kind,
            location: Location(
                tier: entry.standing.tier, purgedBy: Self.purgedBy(entry), names: entry.isFile ? entry.names : 1),
            protection: Self.protection(entry, container),
            backup: Backup(
                isIncluded: entry.standing.placement.exclusion == nil, reason: entry.standing.placement.exclusion,
                ownFlag: entry.standing.flags.isExcluded, excludedBy: entry.standing.excludedBy.map(Self.named)),
            purging: Self.purging(entry), state: Self.state(found, container), folder: outcome.sum,
            device: Device(container.status),
            history: History(entry.history), findings: outcome.report.findings, rules: outcome.report.rules)
    }

    /// Returns the findings of an entry and, for a folder, of everything in it. `sum` covers the folder; for any other entry,
    /// it covers the parent folder.
    private static func outcome(
        _ found: DiagnosisReader.Found, _ parent: DiagnosisReader.Folder, in container: DiagnosedContainer
    ) throws(CommandFailure) -> (report: DiagnosisReport, sum: FolderSum) {
        guard found.entry.kind != .folder else {
            let folder = try DiagnosisReader(container: container).open(found, in: parent)
            return try ContainerDiagnosis.report(of: found, folder, in: container)
        }
        var diagnosis = Diagnosis(container.context)
        diagnosis.add(DiagnosisReader(container: container).examined(found))
        var sum = FolderSum(path: parent.text)
        try DiagnosisWalk(container).run(below: parent) { (each) throws(CommandFailure) in sum.add(each) }
        return (diagnosis.report(), sum)
    }

    private static func named(_ path: String) -> String { path.isEmpty ? "." : path }

    /// Returns the reason why an entry or, for a folder, its files may be purged.
    private static func purgedBy(_ entry: DiagnosedEntry) -> PurgeReason? {
        entry.kind == .folder ? entry.standing.reasonToGo(hasSeveralNames: false) : entry.reasonToGo
    }

    private static func protection(_ entry: DiagnosedEntry, _ container: DiagnosedContainer) -> Protection? {
        guard entry.kind == .file || entry.kind == .folder else { return nil }
        let own = entry.standing.flags.protection
        let kind = own ?? container.device.protection
        let state = container.status.device.lockState ?? .unlocked
        return Protection(
            class: kind, isOwn: own != nil, state: state.shown,
            canBeOpened: entry.kind == .folder || kind.admits(.open, in: state))
    }

    private static func purging(_ entry: DiagnosedEntry) -> Purging {
        let standing = entry.standing
        let inherited = entry.hasSeveralNames ? nil : standing.folderMark
        let own = entry.kind == .folder && !standing.flags.policy.isEmpty ? standing.flags.policy : nil
        let policy = own.map { (entry.path, $0) } ?? standing.policy.map { ($0.from, $0.value) }
        return Purging(
            ownMark: standing.flags.mark?.text, inheritedMark: inherited?.value.text,
            inheritedFrom: inherited.map { named($0.from) },
            policy: policy.map {
                Policy(path: named($0.0), purgeAfter: $0.1.purgeAfter?.seconds, sizeLimit: $0.1.sizeLimit)
            }, group: standing.group.map(named), leavesTombstone: standing.leavesTombstones)
    }

    private static func state(_ found: DiagnosisReader.Found, _ container: DiagnosedContainer) -> State {
        let entry = found.entry
        let use = entry.lastUse?.advanced(by: TimeSpan(seconds: container.status.device.clock))
        // In a store, st_blocks is the count of the underlying file system, not the charge.
        let charged = container.isInStore ? nil : ByteCount(Int64(found.status.st_blocks) * 512)
        return State(
            bytes: entry.isFile ? entry.size : nil, charged: entry.isFile ? charged : nil,
            modified: entry.modified.iso8601, lastUse: use?.iso8601,
            emptiness: entry.isFile && entry.size == .zero ? emptiness(entry) : nil)
    }

    private static func emptiness(_ entry: DiagnosedEntry) -> Emptiness {
        entry.lacksRefusedData ? .writeRefused : entry.isTombstone ? .emptiedByPurge : .leftEmpty
    }
}

extension PathDiagnosis.Device {
    fileprivate init(_ status: StatusReport) {
        self.init(
            pressure: status.pressure, available: status.storage.available, total: status.storage.total,
            lowBelow: status.thresholds.low)
    }
}

extension PathDiagnosis.History {
    fileprivate init(_ history: PathHistory) {
        self.init(
            purges: history.purges, lastPurge: history.lastPurge?.iso8601, refusedWrites: history.refusals,
            lastRefusal: history.lastRefusal?.iso8601, protectionDenied: history.denials,
            lastDenial: history.lastDenial?.iso8601)
    }
}
