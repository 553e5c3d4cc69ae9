import PurgeModel

// The answer to "what happened?", above everything else. Its numbers are of the events that the tables below are made of.
extension ReportTables {
    var glance: [HTML] {
        var items = [refusals, purges, flags, denials, found].compactMap { $0 }
        if items.isEmpty {
            items = [HTML("li", ["class": "good"], "Nothing was purged or refused, and there are no findings.")]
        }
        return [HTML.section("glance", "At a glance", [HTML("ul", ["class": "glance"], items)])]
    }

    private var refusals: HTML? {
        let newest = content.history.newestRefusals
        return Self.item(
            "bad", "#refused", newest.count, "write was refused", "writes were refused",
            newest.elements.first.flatMap(\.path).map { HTML([", last of ", HTML.path($0)]) })
    }

    private var purges: HTML? {
        let sum = content.history.purgedSum
        let others = sum.files == 0 && sum.bytes > .zero ? "space of other apps was purged" : nil
        guard let others else {
            return Self.item(
                "noted", "#purged", Int(sum.files), "file was purged", "files were purged",
                HTML(HTMLText(" (\(sum.bytes.inWords))", limit: 40)))
        }
        return HTML("li", ["class": "noted"], Self.link("#purged", "\(sum.bytes.inWords) of \(others)"))
    }

    private var flags: HTML? {
        Self.item("bad", "#findings", content.history.flagsLost, "flag was lost", "flags were lost", nil)
    }

    private var denials: HTML? {
        Self.item(
            "bad", "#numbers", content.history.denials, "access was denied by data protection",
            "accesses were denied by data protection", nil)
    }

    private var found: HTML? {
        let findings = content.findings ?? []
        let titles = Set(findings.map(\.title))
        let count = titles.reduce(0) { sum, title in
            sum + (content.findingCounts[title].map { Int($0) } ?? findings.count { $0.title == title })
        }
        return Self.item(
            "noted", "#findings", count, "finding about how files are stored", "findings about how files are stored",
            nil)
    }

    /// Returns an item of the list; nil if the count is 0.
    private static func item(
        _ kind: HTMLText, _ place: HTMLText, _ count: Int, _ one: String, _ many: String, _ more: HTML?
    ) -> HTML? {
        guard count > 0 else { return nil }
        return HTML("li", ["class": kind], link(place, "\(count) \(count == 1 ? one : many)"), more ?? "")
    }

    private static func link(_ place: HTMLText, _ words: String) -> HTML {
        HTML("a", ["href": place], HTML(HTMLText(words, limit: 100)))
    }
}
