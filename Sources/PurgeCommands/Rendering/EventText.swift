import PurgeModel

/// An event as one line for people.
enum EventText {
    static func line(_ event: Event) -> String {
        let cause = [event.reason, event.trigger?.rawValue].compactMap { $0 }.joined(separator: " < ")
        let columns = [
            event.time,
            HelpText.padded(event.type.rawValue, 9),
            StatusText.aligned(event.bytes?.inWords ?? "", 10),
            HelpText.padded(event.tier?.rawValue ?? "", 10),
            HelpText.padded(cause, 26),
            HelpText.padded(event.pid.map { $0 == 0 ? "" : "pid \($0)" } ?? "", 11),
            event.path.map(visible) ?? "",
        ]
        var line = columns.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }

    /// One event stays one line, whatever the app calls its files.
    static func visible(_ path: String) -> String {
        guard path.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else { return path }
        return path.unicodeScalars.map { scalar in
            scalar.value < 0x20 || scalar.value == 0x7F ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }.joined()
    }
}
