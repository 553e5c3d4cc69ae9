import PurgeModel

// The answer to "what happened?", above everything else.
extension ReportTables {
    var glance: [HTML] {
        let items = [refusals, purges, othersPurged, flags, denials, found].compactMap { $0 }
        return [
            HTML.section("glance", "At a glance", [HTML("ul", ["class": "glance"], items.isEmpty ? [nothing] : items)])
        ]
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

    /// Where the flags were lost is in the events only.
    private var flags: HTML? {
        item("bad", nil, content.history.flagsLost, "flag was lost", "flags were lost", nil)
    }

    private var denials: HTML? {
        let count = max(content.history.denials, Int(content.status?.counters.protectionDenied ?? 0))
        return item(
            "bad", content.status == nil ? nil : "#numbers", count, "access was denied by data protection",
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
        _ kind: HTMLText, _ place: HTMLText?, _ count: Int, _ one: String, _ many: String, _ more: HTML?
    ) -> HTML? {
        guard count > 0 else { return nil }
        let words = "\(count) \(count == 1 ? one : many)"
        let what = place.map { Self.link($0, words) } ?? HTML("b", [:], HTML(HTMLText(words, limit: 100)))
        return HTML("li", ["class": kind], what, more ?? "")
    }

    private static func link(_ place: HTMLText, _ words: String) -> HTML {
        HTML("a", ["href": place], HTML(HTMLText(words, limit: 100)))
    }
}
