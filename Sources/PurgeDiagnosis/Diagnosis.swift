import PurgeModel

/// Finds the problems of a container, or of a part of it, for a developer (docs/DIAGNOSIS.md). Entries are added in the order
/// of a walk, each folder before its content.
struct Diagnosis: Sendable {
    /// The device's time, and the protection class of files without one of their own.
    struct Context: Hashable, Sendable {
        var now: Instant
        var protection: FileProtection
    }

    /// The number of findings kept for each rule, worst first.
    static let most = 1000

    private let context: Context
    private var audit = BackupAudit()
    private var kept: [DiagnosisRule: [DiagnosisFinding]] = [:]
    private var counts: [DiagnosisRule: Int64] = [:]
    private var total = BackupAudit.Sum()
    private var unlimitedCaches = BackupAudit.Sum()
    /// The inodes of the hard-linked files counted so far.
    private var linked: Set<UInt64> = []

    init(_ context: Context) { self.context = context }

    mutating func add(_ entry: DiagnosedEntry) {
        for finding in DiagnosisRule.findings(of: entry, in: context) { keep(finding) }
        // Where a rule above has said why a file is empty, the audit's finding that it is empty adds nothing.
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

/// The result of a diagnosis of a container or a folder.
package struct DiagnosisReport: Hashable, Codable, Sendable {
    package struct Count: Hashable, Codable, Sendable {
        package var rule: DiagnosisRule
        /// The number of all findings, including the ones that were not kept.
        package var findings: Int64
    }

    var files: Int64
    /// The sum of the file sizes; a hard-linked file counts once.
    var bytes: ByteCount
    package var rules: [Count]
    /// The findings, worst first, at most 1000 for each rule.
    package var findings: [DiagnosisFinding]
}

extension DirectoryPolicy {
    /// True if the policy has an age or a size limit above zero.
    var isLimited: Bool { (purgeAfter?.seconds ?? 0) > 0 || (sizeLimit ?? .zero) > .zero }
}
