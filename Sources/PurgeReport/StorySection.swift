import PurgeContainers
import PurgeModel

/// The events as sentences, in order, with the end of the run.
struct StorySection {
    let content: ReportContent
    let precision: ReportTime.Precision

    init(_ content: ReportContent) { (self.content, precision) = (content, content.precision) }

    var html: [HTML] {
        let story = content.history.story
        var items = story.groups.map(item)
        if let run = content.run {
            let words = HTML("div", [:], HTML.code(run.program), " \(run.ending).")
            items.append(HTML("li", ["class": run.hasFailed ? "bad" : "event"], HTML("time", [:]), words))
        }
        guard !items.isEmpty else { return ReportTables.nothing("story", "What happened", "The journal has no event.") }
        let earlier =
            story.earlier > 0 ? [HTML.remark("\(story.earlier.grouped) earlier events are not listed here.")] : []
        return [HTML.section("story", "What happened", earlier + [HTML("ol", ["class": "story"], items)])]
    }

    private func item(_ item: EventGroup) -> HTML {
        let (from, to) = (text(item.first.time), text(item.last.time))
        let files =
            item.count > 1 && item.path == nil && !item.paths.isEmpty
            ? [
                HTML(
                    "details", [:],
                    [
                        HTML("summary", [:], "Paths"),
                        HTML("ul", ["class": "paths"], item.paths.map { HTML("li", [:], HTML.path($0, limit: 60)) }),
                    ] + (item.unlisted > 0 ? [HTML.remark("and \(item.unlisted.grouped) more events")] : []))
            ] : []
        return HTML(
            "li", ["class": item.first.type.style],
            [
                HTML("time", [:], HTML(HTMLText(from + (to == from ? "" : " to \(to)"), limit: 80))),
                HTML("div", [:], [HTML("span", [:], Self.sentence(item))] + files),
            ])
    }

    /// Leaves the date out if everything happened on the day that the top of the page shows.
    private func text(_ time: String) -> String {
        let text = ReportTime.text(time, precision)
        let days = Set(
            [content.history.first, content.history.last, content.time.simulated.iso8601].map { $0?.prefix(10) })
        return days.count == 1 && text != time ? String(text.dropFirst(11)) : text
    }

    private static func sentence(_ item: EventGroup) -> HTML {
        let event = item.first
        switch event.type {
        case .mount: return "The container was mounted."
        case .unmount: return "The container was unmounted."
        case .purge: return purge(item)
        case .refused, .hostFull: return refusal(item)
        case .pressure: return pressure(item)
        case .flagLost:
            return HTML([subject(item), HTML(HTMLText(" lost \(event.reason ?? "a flag")")), by(event), "."])
        case .protectionDenied:
            guard event.path != nil else {
                let number = item.count > 1 ? "many more" : event.reason ?? ""
                return HTML(HTMLText("Data protection denied access: \(number)."))
            }
            return HTML([
                "Data protection denied access to ", subject(item), HTML(HTMLText(": \(event.reason ?? "")")),
                by(event),
                ".",
            ])
        case .mark, .policy: return HTML([HTML(HTMLText(event.reason ?? "")), on(item), by(event), "."])
        case .removed: return HTML([subject(item), " removed", by(event), "."])
        case .renamed: return HTML([subject(item), " renamed", to(item, " to "), by(event), "."])
        case .replaced: return HTML([subject(item), " replaced", to(item, " by "), by(event), "."])
        default: return other(item)
        }
    }

    private static func other(_ item: EventGroup) -> HTML {
        let event = item.first
        let times = item.count > 1 ? ", \(item.count.grouped) times" : ""
        let words =
            switch event.type {
            case .capacity: "Device setting: \(event.reason ?? "")"
            case .device:
                (event.trigger == .reboot ? "Device restarted: " : "Device: ") + (event.reason ?? "")
            case .clock: "Clock advanced: \(event.reason?.split(separator: "=").last ?? "")"
            case .app: "App: \(event.reason ?? "")"
            case .terminated: "App terminated by the system: \(event.code ?? "") \(event.reason ?? "")"
            case .lockHeld: "Suspended with \(event.reason ?? "a lock") on \(event.path ?? "")"
            case .fault: "Fault \(event.reason ?? "") on \(event.path ?? "")"
            case .backup: "Backup: \(event.reason ?? "")"
            case .restore: "Restored from a backup: \(event.reason ?? "")"
            case .dropped: "Events are missing from the journal: \(event.reason ?? "")"
            default: event.type.rawValue
            }
        return HTML([HTML(HTMLText(words + times)), by(event), "."])
    }

    private static func purge(_ item: EventGroup) -> HTML {
        let event = item.first
        let why = event.trigger?.inWords ?? event.reason ?? ""
        return HTML([purged(item), HTML(HTMLText(": \(why)")), cause(event), "."])
    }

    private static func purged(_ item: EventGroup) -> HTML {
        let (event, size) = (item.first, item.bytes.inWords)
        func bold(_ words: String) -> HTML { HTML("b", [:], HTML(HTMLText(words))) }
        if event.path == nil { return bold("\(size) of the system and other apps purged") }
        let amount = HTML(HTMLText(" (\(size))"))
        if item.count > 1, item.path == nil {
            return HTML([bold("\(item.count.grouped) purges"), amount, place(item)])
        }
        let times = item.count > 1 ? HTML(HTMLText(" \(item.count.grouped) times")) : ""
        return HTML([bold(event.tombstone == true ? "Emptied" : "Purged"), " ", HTML.path(event.path), times, amount])
    }

    /// Returns the write that caused a purge or a change of the pressure, and its process.
    private static func cause(_ event: Event) -> HTML {
        let process = event.pid ?? 0 == 0 ? HTML("a process") : ReportTables.process(event)
        switch event.trigger {
        case .importantWrite, .pressure, nil:
            if let cause = event.cause { return HTML(["; ", process, " wrote ", HTML.path(cause)]) }
            return event.pid ?? 0 == 0 ? "" : HTML(["; ", process, " changed the device"])
        case .capacity, .policy, .reboot, .command: return ""
        }
    }

    private static func refusal(_ item: EventGroup) -> HTML {
        let event = item.first
        let why = ReportTables.refusal(event)
        if event.path == nil {
            return HTML([HTML("b", [:], "Writes refused"), HTML(HTMLText(": \(item.count > 1 ? "many more" : why)."))])
        }
        let times = item.count > 1 ? ", at least \(item.count.grouped) times" : ""
        guard item.path != nil else {
            return HTML([
                HTML("b", [:], "Writes refused"), place(item), HTML(HTMLText(": \(why)\(times)")), by(event), ".",
            ])
        }
        let wanted = event.bytes.map { ", wanted \($0.inWords)" } ?? ""
        return HTML([
            HTML("b", [:], "Write refused"), ": ", HTML.path(event.path), HTML(HTMLText(" (\(why)\(wanted)\(times))")),
            by(event), ".",
        ])
    }

    private static func pressure(_ item: EventGroup) -> HTML {
        let level = item.last.reason.flatMap(PressureLevel.init(rawValue:))?.inWords ?? item.last.reason ?? ""
        let words =
            item.count == 1
            ? "Pressure: \(level)" : "Pressure changed \(item.count.grouped) times, at last to \(level)"
        return HTML([HTML(HTMLText(words)), item.count == 1 ? cause(item.last) : "", "."])
    }

    /// Returns the path or the directory, and the number of events.
    private static func subject(_ item: EventGroup) -> HTML {
        guard item.count > 1 else { return HTML.path(item.first.path) }
        let entries = item.path.map { HTML.path($0) } ?? HTML(["entries", place(item)])
        return HTML([entries, HTML(HTMLText(" (\(item.count.grouped) times)"))])
    }

    private static func on(_ item: EventGroup) -> HTML {
        item.first.path == nil ? "" : HTML([" on ", subject(item)])
    }

    private static func to(_ item: EventGroup, _ word: String) -> HTML {
        item.count == 1 && item.first.to != nil ? HTML([HTML(HTMLText(word)), HTML.path(item.first.to)]) : ""
    }

    private static func place(_ item: EventGroup) -> HTML {
        switch item.directory {
        case nil: item.paths.isEmpty ? "" : " in several directories"
        case ".": " in the container"
        default: HTML([" in ", HTML.path(item.directory)])
        }
    }

    private static func by(_ event: Event) -> HTML {
        event.pid ?? 0 == 0 ? "" : HTML([", by ", ReportTables.process(event)])
    }
}

extension EventType {
    /// The style of an item.
    fileprivate var style: HTMLText {
        switch self {
        case .refused, .hostFull, .flagLost, .protectionDenied, .terminated, .lockHeld, .fault: "bad"
        case .purge, .dropped: "noted"
        default: "event"
        }
    }
}
