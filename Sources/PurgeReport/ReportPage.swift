import PurgeModel

/// A self-contained HTML page. It loads nothing, and its only script is the filter (`ReportFilter`).
struct ReportPage {
    let content: ReportContent

    var text: String {
        let main = HTML("main", [:], sections)
        return Self.document(
            "Storage of \(content.status?.app.container ?? "a container")",
            [header(of: main), main, HTML.script(ReportFilter.script)])
    }

    static func document(_ title: String, _ body: [HTML]) -> String {
        HTML.document(
            HTML(
                "head", [:],
                HTML.void("meta", ["charset": "utf-8"]),
                HTML.void("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
                HTML.void("meta", ["name": "color-scheme", "content": "light dark"]),
                // Defence in depth: if text ever became markup, a browser would still run and load nothing.
                HTML.void(
                    "meta",
                    [
                        "http-equiv": "Content-Security-Policy",
                        "content": HTMLText(
                            "default-src 'none'; style-src 'unsafe-inline'; script-src '\(ReportFilter.hash)'",
                            limit: .max),
                    ]), HTML("title", [:], HTML(HTMLText(title))), HTML.style(ReportStyle.rules)),
            HTML("body", [:], body))
    }

    private func header(of main: HTML) -> HTML {
        var lines: [HTML] = []
        if let status = content.status {
            lines.append(HTML.paragraph("Container ", HTML.code(status.app.container)))
            if content.run?.isStoreKept ?? true {
                let place = status.mountpoint.map { HTML([", mounted at ", HTML.path($0)]) } ?? ""
                lines.append(HTML.paragraph("Store ", HTML.path(status.store), place))
            }
        }
        let (simulated, real) = (content.time.simulated, content.time.real)
        lines.append(
            HTML.paragraph(
                HTML("time", ["datetime": "\(simulated.iso8601)"], "\(ReportTime.text(simulated)) UTC"),
                " on the device, ", HTML("time", ["datetime": "\(real.iso8601)"], "\(ReportTime.text(real)) UTC"),
                " in real time; purgefs \(content.version)"))
        return HTML("header", [:], [HTML("h1", [:], "Storage report")] + lines + [links(in: main)])
    }

    /// Returns links to the parts that the page has.
    private func links(in main: HTML) -> HTML {
        let places: [(HTMLText, HTMLText)] = [
            ("story", "What happened"), ("findings", "Findings"), ("storage", "Storage"), ("over-time", "Over time"),
            ("purged", "Purges"), ("refused", "Refused writes"), ("largest", "Largest files"), ("numbers", "Numbers"),
            ("settings", "Settings"),
        ]
        return HTML(
            "nav", ["aria-label": "Parts"],
            places.filter { main.markup.contains("<section id=\"\($0.0.escaped)\"") }.map {
                HTML("a", ["href": "#\($0.0.escaped)"], HTML($0.1))
            })
    }

    private var sections: [HTML] {
        let tables = ReportTables(content: content)
        let remarks = content.remarks.map { HTML("p", ["class": "warning"], HTML(HTMLText($0, limit: 1000))) }
        return remarks + tables.glance + StorySection(content).html + tables.findings + storage + overTime
            + [tables.purged, tables.refused, tables.largest, tables.numbers, tables.settings].joined()
    }

    private var storage: [HTML] {
        content.status.map { [HTML.section("storage", "Storage", StorageBar($0).html)] } ?? []
    }

    private var overTime: [HTML] {
        let present = content.status.map { ReportContent.Sample($0, at: content.time.simulated) }
        let chart = UseChart(
            content.samples, present, content.history, thresholds: content.status?.thresholds ?? .off,
            isMounted: content.status?.mountpoint != nil, isRecorded: content.isRecorded, precision: content.precision)
        return [HTML.section("over-time", "Over time", chart.html)]
    }
}
