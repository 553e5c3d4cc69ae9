import PurgeModel

/// Finds what a developer should look at in a container, or in a part of one (docs/DIAGNOSIS.md). Entries come in the
/// order of a walk, each folder before what is in it.
struct Diagnosis: Sendable {
    /// The device's time, and the class of what has none of its own.
    struct Context: Hashable, Sendable {
        var now: Instant
        var protection: FileProtection
    }

    /// So many findings of each rule are kept, the worst ones.
    static let most = 1000

    private let context: Context
    private var audit = BackupAudit()
    private var kept: [DiagnosisRule: [DiagnosisFinding]] = [:]
    private var counts: [DiagnosisRule: Int64] = [:]
    private var total = BackupAudit.Sum()
    private var unlimitedCaches = BackupAudit.Sum()
    /// The files with several names that were counted.
    private var linked: Set<UInt64> = []

    init(_ context: Context) { self.context = context }

    mutating func add(_ entry: DiagnosedEntry) {
        for finding in DiagnosisRule.findings(of: entry, in: context) { keep(finding) }
        // What the rules above say about it is more than that it is empty.
        if entry.size > .zero || !entry.lacksRefusedData && !entry.isTombstone { audit.add(entry.item) }
        guard entry.isFile, !entry.hasSeveralNames || linked.insert(entry.inode).inserted else { return }
        total.bytes += entry.size
        total.files += 1
        guard entry.standing.tier == .caches, entry.standing.policy?.value.isLimited != true else { return }
        unlimitedCaches.bytes += entry.size
        unlimitedCaches.files += 1
    }

    private mutating func keep(_ finding: DiagnosisFinding) {
        counts[finding.rule, default: 0] += 1
        kept[finding.rule, default: []].append(finding)
        if kept[finding.rule, default: []].count >= 2 * Self.most { trim(finding.rule) }
    }

    private mutating func trim(_ rule: DiagnosisRule) {
        kept[rule] = Array(kept[rule, default: []].sorted().prefix(Self.most))
    }

    func report() -> DiagnosisReport {
        var diagnosis = self
        for finding in audit.report().findings { diagnosis.keep(DiagnosisFinding(finding)) }
        if unlimitedCaches.bytes > DiagnosisRule.largestCaches {
            diagnosis.keep(
                DiagnosisFinding(
                    .largeCaches, path: "Library/Caches", bytes: unlimitedCaches.bytes, files: unlimitedCaches.files))
        }
        for rule in DiagnosisRule.allCases { diagnosis.trim(rule) }
        let findings = diagnosis.kept.values.flatMap { $0 }.sorted()
        return DiagnosisReport(
            files: total.files, bytes: total.bytes,
            rules: DiagnosisRule.allCases.compactMap { rule in
                diagnosis.counts[rule].map { DiagnosisReport.Count(rule: rule, findings: $0) }
            }, findings: findings)
    }
}

/// The outcome of a diagnosis of a container or of a folder.
package struct DiagnosisReport: Hashable, Codable, Sendable {
    package struct Count: Hashable, Codable, Sendable {
        package var rule: DiagnosisRule
        /// All of them, also those that are not kept.
        package var findings: Int64
    }

    var files: Int64
    /// The sizes of the files, each counted once.
    var bytes: ByteCount
    package var rules: [Count]
    /// The worst first; of each rule 1000 at most.
    package var findings: [DiagnosisFinding]
}

extension DirectoryPolicy {
    /// It has an age or a limit, and not only the attributes.
    var isLimited: Bool { (purgeAfter?.seconds ?? 0) > 0 || (sizeLimit ?? .zero) > .zero }
}
