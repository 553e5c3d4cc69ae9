import PurgeModel

// The answer to "what happened?", above everything else.
extension ReportTables {
    var glance: [HTML] {
        let items = [end, refusals, purges, othersPurged, flags, denials, found].compactMap { $0 }
        return [
            HTML.section(
                "glance", "At a glance",
                [HTML("ul", ["class": "glance"], items.count > (end == nil ? 0 : 1) ? items : items + [nothing])])
        ]
    }

    /// The end of the run.
    private var end: HTML? {
        content.run.map {
            HTML(
                "li", ["class": $0.hasFailed ? "bad" : "good"], HTML.code($0.program), HTML(HTMLText(" \($0.ending).")))
        }
    }

    private var nothing: HTML {
        let isKnown =
            content.findings != nil && content.isRecorded && content.hasHistory && content.history.dropped == 0
        return isKnown
            ? HTML("li", ["class": "good"], "Nothing was purged or refused, and there are no findings.")
            : HTML("li", [:], "No purge, refusal or finding is known, but not everything could be recorded or read.")
    }

    /// The journal has at most one refusal a second for each file, so the status counts better.
    private var refusals: HTML? {
        let newest = content.history.newestRefusals
        let count = max(newest.count, Int(content.status?.counters.refusedWrites ?? 0))
        return item(
            "bad", "#refused", count, "write was refused", "writes were refused",
            newest.elements.first.flatMap(\.path).map { HTML([", last of ", HTML.path($0)]) })
    }

    private var purges: HTML? {
        let sum = content.history.purgedSums.files
        return item(
            "noted", "#purged", Int(sum.files), "file was purged", "files were purged",
            HTML(HTMLText(" (\(sum.bytes.inWords))", limit: 40)))
    }

    private var othersPurged: HTML? {
        let bytes = content.history.purgedSums.others.bytes
        guard bytes > .zero else { return nil }
        return HTML(
            "li", ["class": "noted"], Self.link("#purged", "\(bytes.inWords) of the system and other apps was purged"))
    }

    private var flags: HTML? {
        item("bad", "#story", content.history.flagsLost, "flag was lost", "flags were lost", nil)
    }

    private var denials: HTML? {
        let count = max(content.history.denials, Int(content.status?.counters.protectionDenied ?? 0))
        return item(
            "bad", "#story", count, "access was denied by data protection",
            "accesses were denied by data protection", nil)
    }

    private var found: HTML? {
        let findings = content.findings ?? []
        let count = Set(findings.map(\.title)).reduce(0) { sum, title in
            sum + (content.findingCounts[title].map { Int($0) } ?? findings.count { $0.title == title })
        }
        return item("noted", "#findings", count, "finding", "findings", " about how files are stored")
    }

    /// Returns an item of the list; nil if the count is 0.
    private func item(
        _ kind: HTMLText, _ place: HTMLText, _ count: Int, _ one: String, _ many: String, _ more: HTML?
    ) -> HTML? {
        guard count > 0 else { return nil }
        let link = Self.link(place, "\(count.grouped) \(count == 1 ? one : many)")
        return HTML("li", ["class": kind], link, more ?? "")
    }

    private static func link(_ place: HTMLText, _ words: String) -> HTML {
        HTML("a", ["href": place], HTML(HTMLText(words, limit: 100)))
    }
}
