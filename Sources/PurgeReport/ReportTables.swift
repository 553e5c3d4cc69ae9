import PurgeModel

/// The tables of a report. A sentence replaces an empty table of files, findings, purges or refused writes; other empty tables
/// are omitted.
struct ReportTables {
    let content: ReportContent
    let precision: ReportTime.Precision

    init(content: ReportContent) { (self.content, precision) = (content, content.precision) }

    /// The numbers of `purgefs status`, to the byte.
    var numbers: [HTML] {
        guard let status = content.status else { return [] }
        let (storage, counters) = (status.storage, status.counters)
        let amounts: [(HTMLText, HTMLText, ByteCount)] = [
            ("total", "Size of the device", storage.total), ("used", "Used by this container", storage.used),
            ("others", "Used by others", storage.others),
            ("othersPurgeable", "Purgeable part of others", storage.othersPurgeable),
            ("available", "Free", storage.available),
            ("important", "Available for important writes, including purging", storage.important),
            ("opportunistic", "Available for opportunistic writes", storage.opportunistic),
            ("reclaimable", "Purging would free", storage.reclaimable),
            ("markedPurgeable", "Marked purgeable", status.marked.purgeable.bytes),
            ("notBackedUp", "Excluded from backup", status.marked.excludedFromBackup.bytes),
            ("purgedBytes", "Purged so far", ByteCount(counters.purgedBytes)),
        ]
        let counts: [(HTMLText, HTMLText, Int64)] = [
            ("purgedFiles", "Files purged so far", counters.purgedFiles),
            ("refusedWrites", "Writes refused so far", counters.refusedWrites),
            ("protectionDenied", "Accesses denied by data protection so far", counters.protectionDenied),
        ]
        return [
            HTML.section(
                "numbers", "Numbers",
                [
                    HTML(
                        "dl", [:],
                        amounts.map { Self.term($0.1, $0.0, Self.amount($0.2)) }
                            + counts.map { Self.term($0.1, $0.0, HTML.text($0.2.grouped)) })
                ])
        ]
    }

    private static func amount(_ bytes: ByteCount) -> HTML {
        HTML([
            HTML("span", [:], "\(bytes.inWords)"), " ",
            HTML("span", ["class": "exact"], "\(bytes.bytes.grouped) bytes"),
        ])
    }

    private static func term(_ name: HTMLText, _ id: HTMLText, _ value: HTML) -> HTML {
        HTML("div", [:], HTML("dt", [:], HTML(name)), HTML("dd", ["id": id], value))
    }

    var largest: [HTML] {
        guard content.status != nil else { return [] }
        guard !content.largest.isEmpty else { return Self.nothing("largest", "Largest files", "There are none.") }
        let table = ReportTable(
            caption: "By size on the device; at most 20",
            columns: [
                .text("Path"), .number("Size"), .text("Tier"), .text("Marked purgeable"), .text("In the backup"),
            ],
            rows: content.largest.map { file in
                [
                    HTML.path(file.path), "\(file.charged.inWords)", "\(file.tier.rawValue)",
                    HTML.text(file.mark?.urgency.map { "yes, \($0.rawValue)" } ?? "no"),
                    HTML.text(file.exclusion.map { "no: \($0.inWords)" } ?? "yes"),
                ]
            })
        return [HTML.section("largest", "Largest files", [table.html])]
    }

    var findings: [HTML] {
        guard let findings = content.findings else { return [] }
        guard !findings.isEmpty else { return Self.nothing("findings", "Findings", "No findings.") }
        var groups: [[ReportContent.Finding]] = []
        for finding in findings {
            if let index = groups.firstIndex(where: { $0[0].isLike(finding) }) {
                groups[index].append(finding)
            } else {
                groups.append([finding])
            }
        }
        return [HTML.section("findings", "Findings", groups.prefix(Self.mostGroups).flatMap(group))]
    }

    /// Returns markup for findings with the same title and advice.
    private func group(_ findings: [ReportContent.Finding]) -> [HTML] {
        let first = findings[0]
        let shown = findings.prefix(Self.mostFindings)
        let items = shown.compactMap { finding -> HTML? in
            guard let path = finding.path else { return nil }
            let words = [finding.bytes?.inWords, finding.detail].compactMap { $0 }.joined(separator: ", ")
            return HTML("li", [:], HTML.path(path), HTML(HTMLText(words.isEmpty ? "" : " (\(words))", limit: 100)))
        }
        let isAlone = content.findings?.allSatisfy { $0.title != first.title || $0.isLike(first) } ?? true
        let count = (isAlone ? content.findingCounts[first.title] : nil) ?? Int64(findings.count)
        let rest = count > shown.count ? [HTML.remark("and \((count - Int64(shown.count)).grouped) more")] : []
        let severity = HTML("span", ["class": "severity \(first.severity)"], HTML(HTMLText(first.severity)))
        return [HTML("h3", [:], severity, " ", HTML(HTMLText(first.title)))] + items.inElement("ul", ["class": "paths"])
            + rest + [HTML.remark(HTML(HTMLText(first.advice, limit: 600)))]
    }

    private static let mostFindings = 10
    private static let mostGroups = 30

    var settings: [HTML] {
        guard !content.settings.isEmpty else { return [] }
        let list = HTML(
            "dl", [:],
            content.settings.map {
                Self.term(
                    HTMLText($0.name),
                    HTMLText("setting-" + $0.name.filter { $0.isLetter || $0.isNumber || $0 == "." }),
                    HTML(HTMLText($0.value, limit: 400)))
            })
        let policies = ReportTable(
            caption: "Directory policies",
            columns: [.text("Directory"), .text("Age"), .number("Limit"), .number("Used"), .number("Files")],
            rows: content.policies.prefix(Self.mostPolicies).map { policy in
                let limit = policy.sizeLimit ?? .zero
                return [
                    HTML.path(policy.path.isEmpty ? "." : policy.path),
                    HTML.text(policy.purgeAfter.map { $0 == "0" ? "manual" : $0 } ?? "manual"),
                    HTML.text(limit > .zero ? limit.inWords : "none"), "\(policy.used.inWords)", "\(policy.files)",
                ]
            })
        let rest = content.policies.count - Self.mostPolicies
        return [
            HTML.section(
                "settings", "Settings",
                [list] + (content.policies.isEmpty ? [] : [policies.html])
                    + (rest > 0 ? [HTML.remark("and \(rest) more directories")] : []))
        ]
    }

    private static let mostPolicies = 40

    /// Returns a section with one sentence.
    static func nothing(_ id: HTMLText, _ title: HTMLText, _ words: HTMLText) -> [HTML] {
        [HTML.section(id, title, [HTML.paragraph(HTML(words))])]
    }
}
