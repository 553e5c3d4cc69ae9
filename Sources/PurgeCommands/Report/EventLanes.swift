import PurgeModel

/// What happened, as marks along the time of a chart: one lane for each kind.
struct EventLanes {
    private static let height = 100

    private let history: ReportHistory
    private let axis: TimeAxis

    init(_ history: ReportHistory, _ axis: TimeAxis) { (self.history, self.axis) = (history, axis) }

    var html: [HTML] {
        lane("purged", "Purged", "What was purged", words(history.purges, "purge"), marks(history.purges, "purged"))
            + lane(
                "refused", "Refused", "Refused writes", words(history.refusals, "refused write"),
                marks(history.refusals, "refused"))
            + lane("pressure", "Pressure", "Pressure", levelWords, levels)
            + lane("locked", "Locked", "Locks and reboots", lockWords, locks + marks(history.reboots, "reboot"))
    }

    private func lane(
        _ id: HTMLText, _ name: HTMLText, _ title: HTMLText, _ words: String, _ content: [HTML]
    ) -> [HTML] {
        [
            HTML("div", ["class": "lane-name", "aria-hidden": "true"], HTML(name)),
            Drawing(
                id: "\(id.escaped)-lane", title: title, description: HTMLText(words), width: TimeAxis.width,
                height: Self.height, style: "lane", content: content
            ).html,
        ]
    }

    private func words(_ moments: Moments, _ noun: String) -> String {
        let count = moments.spans.reduce(0) { $0 + $1.count }
        return count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
    }

    private var levelWords: String {
        guard let last = history.levels.changes.last else { return "no change of the level" }
        let count = history.levels.changes.count
        return "\(count) \(count == 1 ? "change" : "changes") of the level, at last to \(last.state.inWords)"
    }

    private var lockWords: String {
        "\(history.locks.changes.count { $0.state == .locked }) times locked, \(words(history.reboots, "reboot"))"
    }

    /// Those that would be drawn over one another are one mark.
    private func marks(_ moments: Moments, _ style: HTMLText) -> [HTML] {
        var columns: [(from: Int, to: Int, span: Moments.Span)] = []
        for span in moments.spans.sorted(by: { $0.first < $1.first }) {
            let (from, to) = (axis.x(span.first), axis.x(span.last))
            if let last = columns.indices.last, from <= columns[last].to + 4 {
                columns[last].to = max(columns[last].to, to)
                columns[last].span.last = max(columns[last].span.last, span.last)
                columns[last].span.count += span.count
                columns[last].span.bytes += span.bytes
            } else {
                columns.append((from, to, span))
            }
        }
        return columns.map { rectangle(style, $0.from, $0.to, least: 4, title(of: $0.span)) }
    }

    private func title(of span: Moments.Span) -> String {
        let bytes = span.bytes > .zero ? ", \(span.bytes.inWords)" : ""
        return (span.count > 1 ? "\(span.count) times" : "once") + bytes + ", " + text(span.first)
            + (span.last - span.first >= 1_000_000_000 ? " to \(text(span.last))" : "")
    }

    /// A mark at the right edge would otherwise be outside.
    private func rectangle(_ style: HTMLText, _ from: Int, _ to: Int, least: Int, _ title: String) -> HTML {
        let width = max(least, to - from)
        return HTML(
            "rect",
            [
                "class": style, "x": "\(min(from, TimeAxis.width - width))", "y": "0", "width": "\(width)",
                "height": "\(Self.height)",
            ], HTML("title", [:], HTML(HTMLText(title))))
    }

    private var levels: [HTML] {
        bands(history.levels.changes.map { ($0.time, $0.state, $0.state.inWords) }) { level in
            switch level {
            case .normal: nil
            case .nearLow: "near-low"
            case .low: "low"
            case .veryLow: "very-low"
            }
        }
    }

    private var locks: [HTML] {
        bands(history.locks.changes.map { ($0.time, $0.state, $0.state.rawValue) }) { state in
            state.restrictsData ? "locked" : nil
        }
    }

    /// From each change to the next; not for those without a style.
    private func bands<State>(_ changes: [(time: Int64, state: State, name: String)], _ style: (State) -> HTMLText?)
        -> [HTML]
    {
        changes.indices.compactMap { index in
            let (time, state, name) = changes[index]
            guard let style = style(state) else { return nil }
            let end = index + 1 < changes.count ? changes[index + 1].time : axis.end
            let (from, to) = (axis.x(time), axis.x(end))
            // Of many in one place, the last is seen.
            if to - from < 2, index + 1 < changes.count { return nil }
            return rectangle(style, from, to, least: 2, "\(name) from \(text(time)) to \(text(end))")
        }
    }

    private func text(_ time: Int64) -> String { ReportTime.text(Instant(nanoseconds: time)) }

    var legend: [HTML] {
        let parts: [(HTMLText, HTMLText)] = [
            ("purged", "purged"), ("refused", "refused"), ("near-low", "near low"), ("low", "low"),
            ("very-low", "very low"), ("locked", "locked"), ("reboot", "reboot"),
        ]
        return [
            HTML(
                "ul", ["class": "legend small"],
                parts.map { HTML("li", [:], Drawing.swatch($0.0), HTML("span", ["class": "name"], HTML($0.1))) })
        ]
    }
}
