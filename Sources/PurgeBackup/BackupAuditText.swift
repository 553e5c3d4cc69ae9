import PurgeCommandLine
import PurgeModel

/// The text of `purgefs backup audit`, with the worst findings first.
struct BackupAuditText {
    let report: BackupAuditReport
    /// Whether to list all findings of a rule, instead of only the first five.
    let isVerbose: Bool

    private static let most = 5
    private static let width = 80

    var lines: [String] {
        let total = "\(report.bytes.inWords) in \(Self.files(report.files)) would be backed up"
        return [total, ""] + findings + folders + tiers + leftOut + largest
    }

    private var findings: [String] {
        if report.findings.isEmpty { return ["No findings.", ""] }
        return BackupFinding.Rule.allCases.flatMap { rule -> [String] in
            let found = report.findings.filter { $0.rule == rule }
            guard !found.isEmpty else { return [] }
            let count = found.count == 1 && found[0].path == nil ? "" : " (\(found.count))"
            return ["! \(rule.title)\(count)"] + items(found) + HelpText.wrapped(rule.advice, indent: "  ") + [""]
        }
    }

    private func items(_ found: [BackupFinding]) -> [String] {
        let shown = isVerbose ? found[...] : found.prefix(Self.most)
        let rest = found.count - shown.count
        return shown.filter { $0.path != nil }.map { finding in
            row(finding.path ?? "", finding.bytes, finding.files.flatMap { $0 > 1 ? $0 : nil })
        } + (rest > 0 ? ["    and \(rest) more (--verbose)"] : [])
    }

    private var folders: [String] {
        report.folders.isEmpty
            ? [] : ["In the backup, by folder"] + report.folders.map { row($0.path, $0.bytes, $0.files) } + [""]
    }

    private var tiers: [String] {
        ["In the container, by tier"]
            + report.tiers.map { row($0.tier.rawValue, $0.bytes, $0.files, "\($0.inBackup.inWords) in the backup") }
            + [""]
    }

    private var leftOut: [String] {
        report.leftOut.isEmpty
            ? [] : ["Left out"] + report.leftOut.map { row($0.reason.inWords, $0.bytes, $0.files) } + [""]
    }

    private var largest: [String] {
        report.largest.isEmpty
            ? [] : ["The largest files in the backup"] + report.largest.map { row($0.path, $0.bytes) }
    }

    private func row(_ name: String, _ bytes: ByteCount?, _ files: Int64? = nil, _ remark: String = "") -> String {
        let end = [files.map(Self.files) ?? "", remark].filter { !$0.isEmpty }.joined(separator: ", ")
        let size = bytes.map { HelpText.aligned($0.inWords, 10) } ?? ""
        let tail = end.isEmpty ? "" : "  \(end)"
        let room = Self.width - 4 - size.count - tail.count - 2
        return "    \(size.isEmpty ? "" : size + "  ")\(Self.shortened(VisibleText.of(name), to: room))\(tail)"
    }

    /// Cuts off the beginning of a string, because the end of a path says more.
    private static func shortened(_ text: String, to count: Int) -> String {
        text.count <= count ? text : "..." + text.suffix(max(0, count - 3))
    }

    private static func files(_ count: Int64) -> String { "\(count) \(count == 1 ? "file" : "files")" }
}
