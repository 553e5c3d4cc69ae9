import PurgeCommandLine
import PurgeModel
import PurgeSystem

/// A frame of `purgefs status --watch`: the bar, the shares, and the newest events. On a small terminal, less important
/// lines are left out.
struct WatchText {
    let report: StatusReport
    /// The events, oldest first.
    let events: [Event]
    /// Messages about parts of the frame that could not be read, each with the reason.
    let remarks: [String]
    let bar: CapacityBar
    let size: TerminalSize

    /// The most events shown, however tall the terminal is.
    static let mostEvents = 50

    /// One line. The lines with the highest `need` are dropped first.
    private struct Line {
        var text: String
        var need: Int
    }

    init(_ status: WatchedStatus, isUnicode: Bool, size: TerminalSize) {
        (report, events, remarks, self.size) = (status.report, status.events, status.remarks, size)
        bar = CapacityBar(report: status.report, isUnicode: isUnicode)
    }

    /// One row less than the terminal has, so that nothing scrolls at the end.
    private var rows: Int { size.rows > 2 ? size.rows - 1 : size.rows }
    private var width: Int { size.columns }
    /// Whether there is room for text beside the tiers.
    private var isWide: Bool { width >= 76 }

    var lines: [String] {
        let all =
            place + [Line(text: "", need: 90)] + space + [Line(text: "", need: 91)] + usage
            + [Line(text: "", need: 92)]
        let last = history(rows: rows - all.count)
        let chosen = (all + last).enumerated().sorted { ($0.element.need, $0.offset) < ($1.element.need, $1.offset) }
        return chosen.prefix(rows).sorted { $0.offset < $1.offset }.map { cut($0.element.text) }
    }

    private func cut(_ text: String) -> String { text.count <= width ? text : String(text.prefix(width)) }

    private var place: [Line] {
        let (clock, boots) = (report.device.clock, report.device.boots)
        let ahead = clock > 0 ? ", clock \(DurationText.inWords(seconds: clock)) ahead" : ""
        let running = report.app.running ? ", app running" : ""
        return [
            named("mounted at", report.mountpoint ?? "nowhere", 40), named("store", report.store, 42),
            Line(
                text: "device      \(VisibleText.of(report.device.state)), boot \(boots)\(ahead)\(running), "
                    + "profile \(VisibleText.of(report.profile))", need: 41),
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
            Line(text: headline, need: 1), Line(text: bar.text(width: width), need: 2),
            Line(text: bar.marks(width: width), need: 4), Line(text: bar.legend(width: width), need: 30),
        ]
    }

    /// The parts of the bar, with the capacities and the purged bytes beside or below them.
    private var usage: [Line] {
        let parts = CapacityBar.Part.allCases.enumerated().map { index, part in
            Line(text: row(part), need: part == .othersPurgeable ? 15 : 10 + index)
        }
        guard isWide else { return parts + numbers.enumerated().map { Line(text: $1, need: 50 + $0) } }
        return zip(parts, numbers).map { part, number in
            Line(text: HelpText.padded(part.text, 44) + number, need: part.need)
        }
    }

    private func row(_ part: CapacityBar.Part) -> String {
        let text =
            "\(bar.symbol(part)) " + HelpText.padded(Self.name(part), 17)
            + HelpText.aligned(bar.bytes(part).inWords, 10)
        return files(part).map { text + "  \(Self.files($0))" } ?? text
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
        return [
            row("important", storage.important.inWords), row("opportunistic", storage.opportunistic.inWords),
            row("can be purged", storage.reclaimable.inWords),
            row("marked", "\(marked.purgeable.bytes.inWords), \(Self.files(marked.purgeable.files))"),
            row("purged", "\(ByteCount(counters.purgedBytes).inWords), \(Self.files(counters.purgedFiles))"),
            row("refused", "\(counters.refusedWrites) \(counters.refusedWrites == 1 ? "write" : "writes")"),
        ]
    }

    private static func files(_ count: Int64) -> String { "\(count) \(count == 1 ? "file" : "files")" }

    /// Returns the lines for events. The newest event ranks above the tiers, older events below them.
    private func history(rows: Int) -> [Line] {
        let title = remarks.isEmpty ? events.isEmpty ? "no events yet" : "last events" : remarks.joined(separator: "; ")
        let shown = events.suffix(max(1, rows - 1))
        return [Line(text: VisibleText.of(title), need: remarks.isEmpty ? 20 : 5)]
            + shown.enumerated().map { index, event in
                Line(text: self.event(event), need: index + 1 == shown.count ? 5 : 20 + shown.count - index)
            }
    }

    /// Returns one event with its time by the device's clock, without the date. On a narrow terminal, columns are left out,
    /// including the time.
    private func event(_ event: Event) -> String {
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
