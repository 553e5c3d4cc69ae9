import PurgeCommandLine
import PurgeModel

/// Phrases that sentences are made of.
enum WhyWords {
    /// A placeholder for a space in a name, which prevents a line break there; no text of ours contains it.
    static let blank: Character = "\u{F8FF}"

    /// Returns a path or another name, ready for a sentence.
    static func path(_ text: String) -> String {
        String(VisibleText.of(text).map { $0 == " " ? blank : $0 })
    }

    /// Wraps text to 80 columns; only a longer name exceeds them.
    static func wrapped(_ text: String, indent: String = "", hanging: String? = nil) -> [String] {
        HelpText.wrapped(text, indent: indent, hanging: hanging).map { line in
            String(line.map { $0 == blank ? " " : $0 })
        }
    }

    /// Returns `on 2026-11-21 at 09:30:00 UTC`, and adds the real time if it shows another second.
    static func when(_ event: Event) -> String {
        let shown = "on " + moment(event.time)
        guard let real = event.realTime, real.prefix(19) != event.time.prefix(19) else { return shown }
        return "\(shown) by the device's clock (\(moment(real)) in real time)"
    }

    /// Returns `2026-11-21T09:30:00.123Z` as `2026-11-21 at 09:30:00 UTC`; formats any other text like `path`.
    static func moment(_ text: String) -> String {
        let parts = text.split(separator: "T", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count > 8, parts[1].last == "Z" else { return path(text) }
        return path(String(parts[0])) + " at " + path(String(parts[1].prefix(8))) + " UTC"
    }

    /// Returns `process 42 (cp)`; nil if nothing is known of the process.
    static func process(_ pid: Int32?, _ name: String?) -> String? {
        guard let pid, pid != 0 else { return name.map(path) }
        return "process \(pid)" + (name.map { " (\(path($0)))" } ?? "")
    }

    static func process(_ event: Event) -> String? { process(event.pid, event.process) }

    /// Returns ` by process 42 (cp)`, or an empty string.
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
