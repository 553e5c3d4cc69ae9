import PurgeModel

/// The event lanes below the charts. Purges, refused writes, and pressure have one lane each; locks and reboots share one.
struct EventLanes {
    private static let height = 100

    private let history: ReportHistory
    private let axis: TimeAxis
    private let precision: ReportTime.Precision

    init(_ history: ReportHistory, _ axis: TimeAxis, _ precision: ReportTime.Precision = .seconds) {
        (self.history, self.axis, self.precision) = (history, axis, precision)
    }

    var html: [HTML] {
        lane("purged", "Purged", "Purges", words(history.purges, "purge"), marks(history.purges, "purged"))
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
        let count = history.levels.count
        return "\(count) \(count == 1 ? "change" : "changes") of the level, at last to \(last.state.inWords)"
    }

    private var lockWords: String {
        "locked \(history.timesLocked == 1 ? "once" : "\(history.timesLocked) times"), \(words(history.reboots, "reboot"))"
    }

    /// Returns the marks of one kind of event; marks at most four units apart are joined.
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
            + (text(span.last) != text(span.first) ? " to \(text(span.last))" : "")
    }

    /// Returns a mark, moved left if it would extend past the right edge.
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
        bands(history.levels, \.inWords) { level in
            switch level {
            case .normal: nil
            case .nearLow: "near-low"
            case .low: "low"
            case .veryLow: "very-low"
            }
        }
    }

    private var locks: [HTML] { bands(history.locks, \.rawValue) { $0.restrictsData ? "locked" : nil } }

    /// The width of a column in chart units. No band is narrower, and each column shows the worst state in it.
    private static let column = 2

    /// Returns a band for each run of columns with the same rank; states without a style get none.
    private func bands<State>(
        _ states: States<State>, _ name: (State) -> String, _ style: (State) -> HTMLText?
    ) -> [HTML] {
        let worst = columns(states)
        var bands: [HTML] = []
        var begin = 0
        while begin < worst.count {
            guard let first = worst[begin] else {
                begin += 1
                continue
            }
            let state = states.changes[first].state
            var (end, last) = (begin + 1, first)
            while end < worst.count, let next = worst[end],
                states.rank(states.changes[next].state) == states.rank(state)
            {
                (end, last) = (end + 1, next)
            }
            if let style = style(state) {
                let title =
                    "\(name(state)) from \(text(states.changes[first].time)) to \(text(self.end(of: last, states)))"
                bands.append(
                    rectangle(style, begin * Self.column, end * Self.column, least: Self.column, title))
            }
            begin = end
        }
        return bands
    }

    /// Returns the index of the worst change in each column.
    private func columns<State>(_ states: States<State>) -> [Int?] {
        var worst = [Int?](repeating: nil, count: TimeAxis.width / Self.column)
        for (index, change) in states.changes.enumerated() {
            let from = min(axis.x(change.time) / Self.column, worst.count - 1)
            let isLast = index + 1 == states.changes.count
            let end = isLast ? TimeAxis.width : axis.x(end(of: index, states))
            let to = max(from, min((end - 1) / Self.column, worst.count - 1))
            for column in from...to {
                if let other = worst[column], states.rank(states.changes[other].state) > states.rank(change.state) {
                    continue
                }
                worst[column] = index
            }
        }
        return worst
    }

    private func end<State>(of index: Int, _ states: States<State>) -> Int64 {
        index + 1 < states.changes.count ? states.changes[index + 1].time : axis.end
    }

    private func text(_ time: Int64) -> String { ReportTime.text(Instant(nanoseconds: time), precision) }

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
