import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

/// A frame of `purgefs status --watch`: the bar, the shares, and the newest events. On a small terminal, less important
/// lines are left out.
struct WatchText {
    let report: StatusReport
    let events: [EventGroup]
    /// The free space of the last readings, one a second, oldest first.
    let free: [ByteCount]
    /// Messages about parts of the frame that could not be read, each with the reason.
    let remarks: [String]
    let bar: CapacityBar
    let size: TerminalSize

    /// One line. The lines with the highest `need` are dropped first.
    private struct Line {
        var line: LiveLine
        var need: Int

        init(text: String, need: Int) { (line, self.need) = (LiveLine(text), need) }

        func coloured(_ range: Range<Int>, _ colour: LiveLine.Colour?) -> Line {
            var line = self
            if let colour { line.line.colours.append((range, colour)) }
            return line
        }
    }

    init(_ status: WatchedStatus, isUnicode: Bool, size: TerminalSize) {
        (report, events, free) = (status.report, status.events.groups, status.free)
        (remarks, self.size) = (status.remarks, size)
        bar = CapacityBar(report: status.report, isUnicode: isUnicode)
    }

    /// One row less than the terminal has, so that nothing scrolls at the end.
    private var rows: Int { size.rows > 2 ? size.rows - 1 : size.rows }
    private var width: Int { size.columns }
    static let keys = "Ctrl-C quits, Ctrl-Z suspends"

    /// Whether there is room for numbers of files beside the tiers.
    private var isWide: Bool { width >= 76 }

    var lines: [LiveLine] {
        let all =
            place + [Line(text: "", need: 90)] + space + [Line(text: "", need: 91)] + usage
            + [Line(text: "", need: 92)]
        // On a small terminal, a few events are worth more than empty lines.
        let full = all.count { !$0.line.text.isEmpty }
        let last = history(rows: max(rows - all.count, min(5, rows - full)))
        let chosen = (all + last).enumerated().sorted { ($0.element.need, $0.offset) < ($1.element.need, $1.offset) }
        return chosen.prefix(rows).sorted { $0.offset < $1.offset }.map {
            $0.element.line.cut(to: width)
        }
    }

    private var place: [Line] {
        let (clock, boots) = (report.device.clock, report.device.boots)
        let time = DurationText.inWords(seconds: clock)
        let ahead = clock > 0 ? isWide ? ", clock \(time) ahead" : ", +\(time)" : ""
        let running = report.app.running ? ", \(report.app.state.rawValue)" : ""
        let profile = (isWide ? ", profile " : ", ") + VisibleText.of(report.profile)
        return [
            named("mounted at", report.mountpoint ?? "nowhere", 40), named("store", report.store, 42),
            Line(
                text: "device      \(VisibleText.of(report.device.state)), boot \(boots)\(ahead)\(running)\(profile)",
                need: 41),
        ]
    }

    private func named(_ name: String, _ path: String, _ need: Int) -> Line {
        let text = VisibleText.of(path)
        let room = max(8, width - 12)
        return Line(
            text: HelpText.padded(name, 12) + (text.count <= room ? text : "..." + text.suffix(room - 3)), need: need)
    }

    private var space: [Line] {
        let (storage, level) = (report.storage, report.pressure.rawValue)
        let free = storage.available.inWords
        let purging = report.purging ? ", purging" : ""
        let headlines = [
            "\(free) free of \(storage.total.inWords), pressure \(level)\(purging)", "\(free) free, \(level)\(purging)",
            "\(free), \(level)",
        ]
        let headline = headlines.first { $0.count <= width } ?? headlines[2]
        return [
            Line(text: headline, need: 1).coloured(0..<headline.count, Self.colour(report.pressure)), shares,
            Line(text: bar.marks(width: width), need: 4), Line(text: bar.legend(width: width), need: 30), course,
        ]
    }

    private var shares: Line {
        let text = bar.text(width: width)
        var line = Line(text: text, need: 2)
        for part in CapacityBar.Part.allCases {
            let symbol = Character(bar.symbol(part))
            let begin = text.prefix { $0 != symbol }.count
            line = line.coloured(begin..<begin + text.count { $0 == symbol }, Self.colour(part))
        }
        return line
    }

    /// The free space over the last seconds, one character a second: its share of the device in eighths, or in tenths without
    /// Unicode.
    private var course: Line {
        let beginning = "free lately   "
        let signs = Array(bar.isUnicode ? "▁▂▃▄▅▆▇█" : "0123456789")
        let total = max(1, Double(report.storage.total.bytes))
        let text = free.suffix(max(0, width - beginning.count)).map { bytes in
            signs[max(0, min(signs.count - 1, Int(Double(bytes.bytes) / total * Double(signs.count))))]
        }
        return Line(text: beginning + String(text), need: 31)
    }

    private static func colour(_ level: PressureLevel) -> LiveLine.Colour? {
        switch level {
        case .normal: .green
        case .nearLow, .low: .yellow
        case .veryLow: .red
        }
    }

    private static func colour(_ part: CapacityBar.Part) -> LiveLine.Colour? {
        switch part {
        case .others, .othersPurgeable: .grey
        case .persistent: .blue
        case .caches: .yellow
        case .temporary: .magenta
        case .free: nil
        }
    }

    /// The parts of the bar, with the capacities and the purged bytes beside or below them.
    private var usage: [Line] {
        let parts = CapacityBar.Part.allCases.enumerated().map { index, part in
            let beside = width >= 58 ? numbers[index] : ""
            let text = HelpText.padded(row(part), beside.isEmpty ? 0 : isWide ? 44 : 30) + beside
            return Line(text: text, need: part == .othersPurgeable ? 15 : 10 + index)
                .coloured(0..<1, Self.colour(part))
        }
        return width >= 58 ? parts : parts + numbers.enumerated().map { Line(text: $1, need: 50 + $0) }
    }

    private func row(_ part: CapacityBar.Part) -> String {
        let text =
            "\(bar.symbol(part)) " + HelpText.padded(Self.name(part), 17)
            + HelpText.aligned(bar.bytes(part).inWords, 10)
        return width >= 58 && !isWide ? text : files(part).map { text + "  \(Self.files($0))" } ?? text
    }

    private static func name(_ part: CapacityBar.Part) -> String {
        switch part {
        case .others: "others"
        case .othersPurgeable: "others, purgeable"
        case .persistent: "everything else"
        case .caches: "Library/Caches"
        case .temporary: "tmp"
        case .free: "free"
        }
    }

    private func files(_ part: CapacityBar.Part) -> Int64? {
        switch part {
        case .persistent: report.tiers.persistent.files
        case .caches: report.tiers.caches.files
        case .temporary: report.tiers.temporary.files
        default: nil
        }
    }

    private var numbers: [String] {
        let (storage, counters, marked) = (report.storage, report.counters, report.marked)
        func row(_ name: String, _ value: String) -> String { HelpText.padded(name, 14) + value }
        func sum(_ bytes: ByteCount, _ files: Int64) -> String {
            isWide || width < 58 ? "\(bytes.inWords), \(Self.files(files))" : "\(bytes.inWords) (\(files))"
        }
        return [
            row("important", storage.important.inWords), row("opportunistic", storage.opportunistic.inWords),
            row("can be purged", storage.reclaimable.inWords),
            row("marked", sum(marked.purgeable.bytes, marked.purgeable.files)),
            row("purged", sum(ByteCount(counters.purgedBytes), counters.purgedFiles)),
            row("refused", "\(counters.refusedWrites) \(counters.refusedWrites == 1 ? "write" : "writes")"),
        ]
    }

    private static func files(_ count: Int64) -> String { "\(count) \(count == 1 ? "file" : "files")" }

    /// Returns the lines for events. The newest event ranks above the tiers, older events below them.
    private func history(rows: Int) -> [Line] {
        let words = events.isEmpty ? "no events yet" : "last events"
        let plain = width >= 50 ? HelpText.padded(words, width - Self.keys.count) + Self.keys : words
        let title = remarks.isEmpty ? plain : remarks.joined(separator: "; ")
        let shown = events.sorted { $0.last.seq < $1.last.seq }.suffix(max(1, rows - 1))
        return [Line(text: VisibleText.of(title), need: remarks.isEmpty ? 20 : 5)]
            + shown.enumerated().map { index, group in
                let need = index + 1 == shown.count ? 5 : 20 + shown.count - index
                let begin = width >= 36 ? 10 : 0
                return Line(text: event(group), need: need)
                    .coloured(begin..<begin + group.last.type.rawValue.count, Self.colour(group.last.type))
            }
    }

    private static func colour(_ type: EventType) -> LiveLine.Colour? {
        switch type {
        case .refused, .hostFull, .flagLost, .protectionDenied, .terminated, .dropped: .red
        case .purge: .yellow
        case .pressure, .device, .clock, .app, .capacity: .cyan
        default: nil
        }
    }

    /// Returns the last event of a group, or their number and sum, with the time by the device's clock without the date. On a
    /// narrow terminal, columns are left out, including the time.
    private func event(_ group: EventGroup) -> String {
        var event = group.last
        if group.count > 1 {
            if let path = group.path {
                event.path = "\(path) (\(group.count) times)"
            } else if event.path != nil {
                event.path = "\(group.count) times in \(group.directory ?? "several directories")"
                event.to = nil
            } else {
                event.reason = "\(event.reason ?? "") (\(group.count) \(event.type == .pressure ? "changes" : "times"))"
            }
            if event.type == .purge { event.bytes = group.bytes }
        }
        var columns: [String] = []
        if width >= 36 { columns.append(String(VisibleText.of(event.time).dropFirst(11).prefix(8))) }
        columns.append(HelpText.padded(event.type.rawValue, width >= 60 ? 8 : 0))
        if width >= 60 { columns.append(HelpText.aligned(event.bytes?.inWords ?? "", 10)) }
        var line = columns.joined(separator: "  ") + "  "
        var parts = EventText(event: event).what[...]
        let room = max(0, width - line.count)
        if event.path != nil, let path = parts.popFirst() {
            // The end of a path says more than its beginning.
            line += path.count <= room ? path : "..." + path.suffix(max(0, room - 3))
        } else {
            line += parts.popFirst() ?? ""
        }
        for part in parts where line.count + 2 + part.count <= width { line += "  " + part }
        return line
    }
}
