import PurgeCommandLine
import PurgeModel

/// The text of `purgefs events --summary`: tables that are at most 80 characters wide.
struct EventSummaryText {
    let report: EventSummaryReport

    /// The maximum number of lines of a table; the others are only counted.
    private static let most = 10
    private static let nameWidth = 40

    var lines: [String] {
        guard report.total.events > 0 else { return ["no events"] }
        let times = report.first.flatMap { first in report.last.map { ", \(first) to \($0)" } } ?? ""
        return [Self.count(report.total.events, "event") + times, sum] + table("directory", report.directories)
            + table("reason", report.reasons) + table("process", report.processes)
    }

    private var sum: String {
        let total = report.total
        return "purged \(Self.count(total.purgedFiles, "file")), \(total.purgedBytes.inWords); refused "
            + Self.count(total.refusedWrites, "write")
    }

    private func table(_ title: String, _ rows: [EventSummaryReport.Line]) -> [String] {
        guard !rows.isEmpty else { return [] }
        let rest = rows.count - Self.most
        return ["", Self.row("by \(title)", "events", "files", "purged", "refused")]
            + rows.prefix(Self.most).map { row in
                Self.row(
                    "  " + row.name, "\(row.events)", "\(row.files)", row.purgedBytes.inWords,
                    row.refusedWrites == 0 ? "" : "\(row.refusedWrites)")
            } + (rest > 0 ? ["  and \(rest) more (--json has them all)"] : [])
    }

    private static func row(_ name: String, _ columns: String...) -> String {
        var line = HelpText.padded(shortened(name), nameWidth)
        for (text, width) in zip(columns, [9, 9, 12, 10]) { line += HelpText.aligned(text, width) }
        while line.last == " " { line.removeLast() }
        return line
    }

    /// Cuts off the beginning of a name, because the end of a path says more.
    private static func shortened(_ name: String) -> String {
        name.count <= nameWidth ? name : "  ..." + name.suffix(nameWidth - 5)
    }

    private static func count(_ number: Int64, _ word: String) -> String {
        "\(number) \(word)\(number == 1 ? "" : "s")"
    }
}
