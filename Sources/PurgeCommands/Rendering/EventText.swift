import PurgeModel

/// An event as one line of text.
enum EventText {
    static func line(_ event: Event) -> String {
        let cause = [event.reason, event.trigger?.rawValue].compactMap { $0 }.joined(separator: " < ")
        let columns = [
            VisibleText.of(event.time),
            HelpText.padded(event.type.rawValue, 9),
            StatusText.aligned(event.bytes?.inWords ?? "", 10),
            HelpText.padded(event.tier?.rawValue ?? "", 10),
            HelpText.padded(VisibleText.of(cause), 26),
            HelpText.padded(event.pid.map { $0 == 0 ? "" : "pid \($0)" } ?? "", 11),
            [
                event.path.map(VisibleText.of), event.tombstone == true ? "(emptied)" : nil,
                event.cause.map { "(written: \(VisibleText.of($0)))" },
            ].compactMap { $0 }.joined(separator: "  "),
        ]
        var line = columns.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }
}
