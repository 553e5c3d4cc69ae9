import PurgeCommandLine
import PurgeModel

/// Pieces of sentences.
enum WhyWords {
    /// Stands for a blank in a name, so that no line is broken there; no text of ours has it.
    static let blank: Character = "\u{F8FF}"

    /// A path or another name in a sentence.
    static func path(_ text: String) -> String {
        String(VisibleText.of(text).map { $0 == " " ? blank : $0 })
    }

    /// On lines of at most 80 columns, unless a name is longer.
    static func wrapped(_ text: String, indent: String = "", hanging: String? = nil) -> [String] {
        HelpText.wrapped(text, indent: indent, hanging: hanging).map { line in
            String(line.map { $0 == blank ? " " : $0 })
        }
    }

    /// `on 2026-11-21 at 09:30:00 UTC`, with real time if the device's clock is ahead of it.
    static func when(_ event: Event) -> String {
        let shown = "on " + moment(event.time)
        guard let real = event.realTime, real.prefix(19) != event.time.prefix(19) else { return shown }
        return "\(shown) by the device's clock (\(moment(real)) in real time)"
    }

    /// `2026-11-21T09:30:00.123Z` as `2026-11-21 at 09:30:00 UTC`; any other text as it is.
    static func moment(_ text: String) -> String {
        let parts = text.split(separator: "T", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count > 8, parts[1].last == "Z" else { return path(text) }
        return path(String(parts[0])) + " at " + path(String(parts[1].prefix(8))) + " UTC"
    }

    /// `process 42 (cp)`; nil if nothing is known of it.
    static func process(_ pid: Int32?, _ name: String?) -> String? {
        guard let pid, pid != 0 else { return name.map(path) }
        return "process \(pid)" + (name.map { " (\(path($0)))" } ?? "")
    }

    static func process(_ event: Event) -> String? { process(event.pid, event.process) }

    /// ` by process 42 (cp)`, or nothing.
    static func by(_ event: Event) -> String { process(event).map { " by \($0)" } ?? "" }

    static func list(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " and " + last
    }

    static func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

    static func place(_ tier: Tier) -> String {
        switch tier {
        case .temporary: "tmp"
        case .caches: "Library/Caches"
        case .persistent: "a persistent place"
        }
    }
}
