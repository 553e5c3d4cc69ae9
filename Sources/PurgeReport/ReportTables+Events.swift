import PurgeModel

// Tables from the journal.
extension ReportTables {
    private var since: String { content.history.first.map { " since \(ReportTime.text($0, precision))" } ?? "" }

    /// A remark if the journal lacks events, which the counters of the status still include.
    private var gap: [HTML] {
        guard content.history.dropped > 0 else { return [] }
        return [HTML.remark("Some events are missing from the journal.")]
    }

    var purged: [HTML] {
        let newest = content.history.newestPurges
        let title: HTMLText = "Purges"
        guard newest.count > 0 else {
            return [
                HTML.section(
                    "purged", title, [HTML.paragraph("The journal has no purge\(since).")] + gap)
            ]
        }
        let rows = newest.elements.map { event in
            [
                time(event.time), HTML.path(event.path), HTML.text(event.bytes?.inWords),
                Self.reason(event.reason), HTML.text(event.trigger?.inWords), Self.origin(event),
            ]
        }
        let caption: HTMLText =
            newest.count > rows.count ? "The newest \(rows.count) of \(newest.count.grouped)" : "All of them"
        let table = ReportTable(
            caption: caption,
            columns: [
                .text("When"), .text("Path"), .number("Freed"), .text("Reason"), .text("Trigger"),
                .text("Cause"),
            ], rows: rows)
        let list =
            rows.count > Self.mostOpen
            ? HTML("details", [:], HTML("summary", [:], HTML(caption)), table.html) : table.html
        return [HTML.section("purged", title, [groups] + gap + [list])]
    }

    /// A longer list of purges is folded, because the story and the table of directories show the same purges in groups.
    private static let mostOpen = 10

    private var groups: HTML {
        let (shown, others) = content.history.purged
        var rows: [[HTML]] = shown.map { group in
            [
                group.directory == nil ? "(others)" : HTML.path(group.directory), Self.reason(group.reason),
                HTML.text(group.directory == nil ? nil : group.files.grouped), "\(group.bytes.inWords)",
                time(group.last),
            ]
        }
        if let (count, sum) = others {
            rows.append([
                HTML("span", ["class": "more"], "\(count.grouped) more"), "", "\(sum.files.grouped)",
                "\(sum.bytes.inWords)", time(sum.last),
            ])
        }
        return ReportTable(
            caption: "By directory and reason\(since)",
            columns: [.text("Directory"), .text("Reason"), .number("Files"), .number("Freed"), .text("Last")],
            rows: rows
        ).html
    }

    var refused: [HTML] {
        let newest = content.history.newestRefusals
        guard newest.count > 0 else {
            return Self.nothing("refused", "Refused writes", "The journal has none\(since).")
        }
        let rows = newest.elements.map { event in
            [
                time(event.time), HTML.path(event.path), HTML.text(event.bytes?.inWords),
                HTML.text(event.tier?.rawValue),
                HTML.text(Self.refusal(event)),
                Self.process(event),
            ]
        }
        let table = ReportTable(
            caption: newest.count > rows.count
                ? "The newest \(rows.count) of \(newest.count.grouped); at most one a second for each file"
                : "At most one a second for each file",
            columns: [
                .text("When"), .text("Path"), .number("Wanted"), .text("Tier"), .text("Why"), .text("Process"),
            ], rows: rows)
        return [HTML.section("refused", "Refused writes", [table.html])]
    }

    private func time(_ text: String) -> HTML {
        HTML("time", [:], HTML(HTMLText(ReportTime.text(text, precision), limit: 40)))
    }

    /// Returns why a write was refused. An event without a path has the number of further refusals.
    static func refusal(_ event: Event) -> String {
        let number = event.path == nil ? event.reason : nil
        if event.type == .hostFull { return "the disk under the store is full" + (number.map { "; \($0)" } ?? "") }
        if let number { return number }
        return event.reason == "opportunistic"
            ? "no room in tmp and Library/Caches, which must leave the device's reserve free" : "no room on the device"
    }

    private static func reason(_ text: String?) -> HTML {
        HTML.text(text.flatMap(PurgeReason.init(rawValue:)).map { "\($0.rawValue): \($0.inWords)" } ?? text)
    }

    /// Returns the origin of a purge: the file whose write caused it and the process that wrote, or the process that changed
    /// the device. The result is empty unless a write or the pressure triggered the purge.
    private static func origin(_ event: Event) -> HTML {
        guard event.trigger == .importantWrite || event.trigger == .pressure else { return "" }
        if event.trigger == .pressure, event.cause == nil, event.pid ?? 0 != 0 {
            return HTML(["a change of the device by ", process(event)])
        }
        return HTML([HTML.path(event.cause), event.cause != nil && event.pid ?? 0 != 0 ? ", " : "", process(event)])
    }

    static func process(_ event: Event) -> HTML {
        guard let pid = event.pid, pid != 0 else { return "" }
        return event.process.map { HTML([HTML.code($0), " (process \(pid))"]) } ?? "process \(pid)"
    }
}

extension PurgeReason {
    var inWords: String {
        switch self {
        case .others: "space of other apps"
        case .temporary: "in tmp"
        case .caches: "in Library/Caches"
        case .purgeable: "marked purgeable"
        case .policyAge: "over its directory's age limit"
        case .policySize: "its directory was over its size limit"
        case .reboot: "in tmp at a reboot"
        case .command: "purged only by commands"
        }
    }
}

extension PurgeTrigger {
    var inWords: String {
        switch self {
        case .importantWrite: "a write needed room"
        case .pressure: "storage was low"
        case .capacity: "the capacity was changed"
        case .policy: "a directory policy"
        case .reboot: "a reboot"
        case .command: "a command"
        }
    }
}
