import PurgeCommandLine
import PurgeModel

/// The use of the device and of the container over time, with the event lanes below on the same axis.
struct UseChart {
    private static let height = 1000
    /// The number of columns for thinning. Each keeps its first and last sample, and the samples with the least and the most
    /// use of the device, the most use of the container, and the largest total.
    private static let columns = 200

    /// The drawn samples, sorted by time.
    private let samples: [ReportContent.Sample]
    /// The present or, if it adds nothing, the last recorded sample.
    private let last: ReportContent.Sample?
    /// The extremes of free space over all samples.
    private let free: (least: ByteCount, most: ByteCount)
    private let history: ReportHistory
    private let thresholds: Thresholds
    private let axis: TimeAxis
    private let precision: ReportTime.Precision
    /// The reason why there are no curves; nil if there are curves.
    private let emptiness: HTMLText?

    /// The part of the width that shows the final state.
    private static let tail = 0.02

    /// Creates a chart of `past`. `past` is in recording order, which is not chronological if a clock was set back.
    init(
        _ past: [ReportContent.Sample], _ present: ReportContent.Sample?, _ history: ReportHistory,
        thresholds: Thresholds, isMounted: Bool = true, isRecorded: Bool = true,
        precision: ReportTime.Precision = .seconds
    ) {
        (self.history, self.thresholds, self.precision) = (history, thresholds, precision)
        emptiness = past.isEmpty ? Self.emptiness(isRecorded) : nil
        // A container that is not mounted does not change. If the present equals the last sample, the curve ends with that
        // sample.
        let isOver = !isMounted && past.last.map { present?.hasNumbers(of: $0) ?? false } ?? false
        let all = past + (isOver ? [] : [present].compactMap(\.self))
        last = all.last
        free = (all.map(\.free).min() ?? .zero, all.map(\.free).max() ?? .zero)
        samples = Self.thinned(all.sorted { $0.time < $1.time })
        axis = TimeAxis(samples.map(\.time) + history.times, tail: Self.tail)
    }

    private static func emptiness(_ isRecorded: Bool) -> HTMLText {
        isRecorded
            ? "There are no curves: the journal has no samples yet. A mount takes them."
            : "There are no curves: with journal.size=0 nothing is recorded."
    }

    private static func thinned(_ samples: [ReportContent.Sample]) -> [ReportContent.Sample] {
        guard samples.count > 6 * columns else { return samples }
        let size = (samples.count + columns - 1) / columns
        return stride(from: 0, to: samples.count, by: size).flatMap { start in
            let part = samples[start..<min(start + size, samples.count)]
            func most(_ value: (ReportContent.Sample) -> ByteCount) -> Int? {
                part.indices.max { value(part[$0]) < value(part[$1]) }
            }
            let chosen = [
                part.startIndex, part.endIndex - 1, part.indices.min { part[$0].inUse < part[$1].inUse },
                most(\.inUse), most(\.used), most(\.total),
            ]
            return Set(chosen.compactMap(\.self)).sorted().map { part[$0] }
        }
    }

    var html: [HTML] {
        let lanes = EventLanes(history, axis, precision)
        let plots = emptiness.map { [HTML("p", ["class": "remark empty"], HTML($0))] } ?? device + container
        return [HTML("div", ["class": "chart"], plots + lanes.html + [times])] + lanes.legend + notes
    }

    private struct Layer {
        let style: HTMLText
        let value: (ReportContent.Sample) -> ByteCount
    }

    /// The tiers of the container, in the colours of the storage bar.
    private var tiers: [Layer] {
        [
            Layer(style: "documents", value: \.persistent), Layer(style: "caches", value: \.caches),
            Layer(style: "temporary", value: \.temporary),
        ] + (samples.contains { $0.moving > .zero } ? [Layer(style: "moving", value: \.moving)] : [])
    }

    private var device: [HTML] {
        let most = samples.map { max($0.total, $0.inUse) }.max() ?? .zero
        let layers =
            [
                Layer(style: "others") { $0.others - $0.othersPurgeable },
                Layer(style: "others-purgeable", value: \.othersPurgeable),
            ] + tiers + [Layer(style: "free", value: \.free)]
        let words =
            free.least == free.most
            ? "Free space was \(free.most.inWords) all the time."
            : "Free space was between \(free.least.inWords) and \(free.most.inWords); in the end "
                + "\((last?.free ?? .zero).inWords)."
        return plot(
            "device-chart", "Use of the device over time", words, heading: "The device", most, layers,
            of: last?.total)
    }

    private var container: [HTML] {
        let most = samples.map(\.used).max() ?? .zero
        guard most > .zero else {
            return [
                HTML("h3", [:], "This container"), HTML("p", ["class": "remark words"], "It was empty all the time."),
            ]
        }
        let words =
            "The container used at most \(most.inWords); in the end \((last?.used ?? .zero).inWords)."
        return plot(
            "container-chart", "Use of the container over time", words, heading: "This container", most, tiers)
    }

    private func plot(
        _ id: HTMLText, _ title: HTMLText, _ words: String, heading: HTMLText, _ most: ByteCount, _ layers: [Layer],
        of total: ByteCount? = nil
    ) -> [HTML] {
        let scale = [most, ByteCount(most.bytes / 2), .zero].map { HTML("span", [:], "\($0.inWords)") }
        let drawing = Drawing(
            id: id, title: title, description: "From \(text(axis.begin)) to \(text(axis.end)). \(words)",
            width: TimeAxis.width,
            height: Self.height, style: "plot", content: areas(layers, most) + pauseBands)
        let limits = total.map { lines(total: $0, of: most) } ?? []
        return [
            HTML("h3", [:], HTML(heading)), HTML("p", ["class": "remark words"], HTML(HTMLText(words))),
            HTML("div", ["class": "scale", "aria-hidden": "true"], scale),
            HTML("div", ["class": "framed"], [drawing.html] + limits),
        ]
    }

    /// Returns the stacked areas. A value lasts until the next sample.
    private func areas(_ layers: [Layer], _ most: ByteCount) -> [HTML] {
        var below = samples.map { _ in ByteCount.zero }
        return layers.map { layer in
            let above = zip(samples, below).map { layer.value($0) + $1 }
            let path = area(from: below.map { y($0, of: most) }, to: above.map { y($0, of: most) })
            below = above
            return HTML("path", ["class": layer.style, "d": HTMLText(path, limit: .max)])
        }
    }

    private func area(from lower: [Int], to upper: [Int]) -> String {
        guard !samples.isEmpty else { return "" }
        let x = places
        var path = "M\(x[0]) \(upper[0])"
        for index in x.indices.dropFirst() { path += "H\(x[index])V\(upper[index])" }
        path += "H\(TimeAxis.width)V\(lower[lower.count - 1])"
        for index in x.indices.dropFirst().reversed() { path += "H\(x[index])V\(lower[index - 1])" }
        return path + "H\(x[0])Z"
    }

    /// Returns the x position of each sample. A peak too short to be visible is widened by drawing its top slightly early.
    private var places: [Int] {
        var x = samples.map { axis.x($0.time) }
        for index in x.indices.dropFirst().dropLast()
        where x[index + 1] - x[index] < 2
            && samples[index].inUse > max(samples[index - 1].inUse, samples[index + 1].inUse)
        {
            x[index] = max(x[index - 1], x[index + 1] - 2)
        }
        return x
    }

    private func y(_ bytes: ByteCount, of most: ByteCount) -> Int {
        guard most > .zero else { return Self.height }
        return Self.height - Int(Double(bytes.bytes) / Double(most.bytes) * Double(Self.height))
    }

    /// Returns the lines at which free space meets a threshold, with their labels. They are not part of the drawing, which would
    /// stretch the text.
    private func lines(total: ByteCount, of most: ByteCount) -> [HTML] {
        [("low", thresholds.low), ("very low", thresholds.veryLow)].filter { $0.1 > .zero && $0.1 < total }.map {
            name, limit in
            let place = Double(y(total - limit, of: most)) / Double(Self.height) * 100
            return HTML(
                "div", ["class": "limit", "style": "top: \(place)%", "aria-hidden": "true"],
                HTML("span", [:], "\(name): \(limit.inWords) free"))
        }
    }
}

extension UseChart {
    private var pauseBands: [HTML] {
        axis.pauses.prefix(20).map { pause in
            let (from, to) = (axis.x(pause.from), axis.x(pause.to))
            return HTML(
                "rect",
                [
                    "class": "pause", "x": "\(from)", "y": "0", "width": "\(max(1, to - from))",
                    "height": "\(Self.height)",
                ], HTML("title", [:], "\(DurationText.inWords(seconds: pause.seconds)), drawn shorter"))
        }
    }

    /// A legend for marks that the drawings do not explain.
    private var notes: [HTML] {
        let seconds = emptiness == nil ? axis.pauses.map(\.seconds) : []
        let long =
            seconds.isEmpty
            ? ""
            : "Striped: nothing was recorded for "
                + seconds.prefix(3).map { DurationText.inWords(seconds: $0) }.joined(separator: ", ")
                + (seconds.count > 3 ? " and \(seconds.count - 3) more times" : "") + "; drawn shorter."
        return long.isEmpty ? [] : [HTML.remark("\(long)")]
    }

    private var times: HTML {
        let marks = [0.0, 1.0 / 3, 2.0 / 3, 1].map { axis.time(at: $0) }
        let day = text(marks[0]).prefix(10)
        return HTML(
            "div", ["class": "times", "aria-hidden": "true"],
            marks.enumerated().map { index, time in
                let text = text(time)
                return HTML("span", [:], "\(index > 0 && text.hasPrefix(day) ? String(text.dropFirst(11)) : text)")
            })
    }

    private func text(_ time: Int64) -> String { ReportTime.text(Instant(nanoseconds: time), precision) }
}

/// The text of moments in the report, in UTC.
enum ReportTime {
    enum Precision {
        /// `2026-11-23 04:15:02`
        case seconds
        /// `2026-11-23 04:15:02.347`
        case milliseconds

        fileprivate var digits: Int { self == .seconds ? 8 : 12 }
    }

    static func text(_ time: Instant, _ precision: Precision = .seconds) -> String { text(time.iso8601, precision) }

    /// Formats a time in ISO 8601, such as the time of an event. Returns any other text unchanged.
    static func text(_ iso8601: String, _ precision: Precision = .seconds) -> String {
        guard Instant(iso8601: iso8601) != nil else { return iso8601 }
        return iso8601.prefix(10) + " " + iso8601.dropFirst(11).prefix(precision.digits).filter { $0 != "Z" }
    }
}
