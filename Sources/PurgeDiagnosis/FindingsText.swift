import PurgeCommandLine
import PurgeModel

/// The findings as text, worst first: the problem, the paths, and the advice.
struct FindingsText {
    let findings: [DiagnosisFinding]
    let rules: [DiagnosisReport.Count]
    /// True to list all known findings instead of the first few of each kind.
    let isVerbose: Bool

    private static let most = 5
    private static let width = 80

    var lines: [String] {
        if findings.isEmpty { return ["No findings."] }
        return Array(groups.map(text).joined(separator: [""]))
    }

    /// The findings grouped by severity, rule and advice, in order of first appearance.
    private var groups: [[DiagnosisFinding]] {
        var groups: [[DiagnosisFinding]] = []
        var places: [Key: Int] = [:]
        for finding in findings {
            let key = Key(severity: finding.severity, rule: finding.rule, advice: finding.advice)
            if let place = places[key] {
                groups[place].append(finding)
            } else {
                places[key] = groups.count
                groups.append([finding])
            }
        }
        return groups
    }

    private struct Key: Hashable {
        let severity: DiagnosisSeverity
        let rule: DiagnosisRule
        let advice: String
    }

    private func text(_ group: [DiagnosisFinding]) -> [String] {
        guard let first = group.first else { return [] }
        let shown = isVerbose ? group[...] : group.prefix(Self.most)
        let known = findings.count { $0.rule == first.rule }
        let unknown = (rules.first { $0.rule == first.rule }?.findings ?? 0) - Int64(known)
        let more = group.count - shown.count
        let all = Int64(group.count) + (known == group.count ? max(0, unknown) : 0)
        let count = all == 1 && first.path == nil ? "" : " (\(all))"
        var lines = HelpText.wrapped(
            "! \(first.severity.rawValue): \(first.rule.title)\(count)", indent: "", hanging: "  ")
        lines += shown.filter { $0.path != nil }.flatMap(rows)
        if more > 0 { lines.append("    and \(more) more (--verbose)") }
        if more == 0, all > group.count { lines.append("    and \(all - Int64(group.count)) more") }
        return lines + HelpText.wrapped(first.advice, indent: "  ")
    }

    private func rows(_ finding: DiagnosisFinding) -> [String] {
        let files = finding.files.flatMap { $0 > 1 ? Self.files($0) : nil }
        let end = [files, finding.detail.map(VisibleText.of)].compactMap { $0 }.joined(separator: ", ")
        let size = finding.bytes.map { HelpText.aligned($0.inWords, 10) + "  " } ?? ""
        let path = VisibleText.of(finding.path ?? "")
        let line = "    \(size)\(path)" + (end.isEmpty ? "" : "  \(end)")
        if line.count <= Self.width { return [line] }
        let room = Self.width - 4 - size.count
        return ["    \(size)\(Self.shortened(path, to: room))"]
            + (end.isEmpty ? [] : HelpText.wrapped(end, indent: String(repeating: " ", count: 8 + size.count)))
    }

    /// Shortens a path at its beginning, because the end says more.
    private static func shortened(_ text: String, to count: Int) -> String {
        text.count <= count ? text : "..." + text.suffix(max(0, count - 3))
    }

    static func files(_ count: Int64) -> String { "\(count) \(count == 1 ? "file" : "files")" }
}
