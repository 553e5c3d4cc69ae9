import PurgeCommandLine
import PurgeModel

/// An event as text: time, type and size, then the path, then the reason and the process.
struct EventText {
    let event: Event

    /// Returns the event on one line.
    static func line(_ event: Event) -> String { EventText(event: event).lines(width: nil).joined() }

    /// Returns the event wrapped to a terminal of `width` columns, or on one line if `width` is nil. A part that is longer than
    /// a line is not broken.
    func lines(width: Int?) -> [String] {
        var lines: [String] = []
        var line = beginning
        for part in parts {
            let isAtStart = lines.isEmpty ? line.count == beginning.count : line.allSatisfy { $0 == " " }
            if let width, !isAtStart, line.count + 2 + part.count > width {
                lines.append(line)
                line = String(repeating: " ", count: Self.indent) + part
            } else {
                line += (line.isEmpty ? "" : "  ") + part
            }
        }
        lines.append(line)
        if lines.count == 1 { while lines[0].last == " " { lines[0].removeLast() } }
        return lines
    }

    /// The width of the time, `2026-11-21T09:30:00.123Z`, and two spaces.
    private static let indent = 26

    private var beginning: String {
        [
            VisibleText.of(event.time), HelpText.padded(event.type.rawValue, 8),
            HelpText.aligned(event.bytes?.inWords ?? "", 10),
        ].joined(separator: "  ")
    }

    private var parts: [String] { what + [user].compactMap { $0 } }

    /// The path, the reason and other details.
    var what: [String] {
        let emptied: String? = event.tombstone == true ? "(emptied)" : nil
        // The reason of a restore already names the earlier container.
        let cause = event.cause.flatMap { cause in
            cause == event.path || event.type == .restore
                ? nil : "(\(event.type == .app ? "container" : "written"): \(VisibleText.of(cause)))"
        }
        let passed = event.passedOver.flatMap { $0.isEmpty ? nil : "(\($0.count) skipped)" }
        return [place, emptied, reason, cause, passed].compactMap { $0 }
    }

    private var place: String? {
        guard let path = event.path.map(VisibleText.of) else { return event.to.map(VisibleText.of) }
        guard let to = event.to.map(VisibleText.of) else { return path }
        return event.type == .replaced ? "\(path) (by \(to))" : "\(path) -> \(to)"
    }

    private var reason: String? {
        let words = [event.reason.map(VisibleText.of), event.trigger?.rawValue].compactMap { $0 }
        return words.isEmpty ? nil : words.joined(separator: " < ")
    }

    private var user: String? {
        let name = event.process.map(VisibleText.of)
        guard let pid = event.pid, pid != 0 else { return name.map { "by \($0)" } }
        return "pid \(pid)" + (name.map { " (\($0))" } ?? "")
    }
}
