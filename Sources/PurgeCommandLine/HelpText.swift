/// Help, made from the table of verbs.
package enum HelpText {
    private static let width = 80
    private static let margin = "    "

    /// Returns the text of `purgefs --help`.
    package static func overview(_ verbs: [Verb]) -> String {
        let column = verbs.map(\.name.count).max() ?? 0
        var lines = ["purgefs: a simulated iOS app container as a file system", "", "USAGE"]
        lines += verbs.flatMap { wrapped($0.usage, indent: margin, hanging: margin + margin) }
        lines += [margin + "purgefs help VERB", margin + "purgefs --help | --version", "", "VERBS"]
        lines += verbs.map { margin + padded($0.name, column + 2) + $0.summary }
        lines += ["", "TARGET"]
        lines += wrapped(targetMeaning, indent: margin)
        lines += ["", "EXIT STATUS"]
        lines += table(ExitStatus.plain + [.init("other", "`purgefs run`: see `purgefs help run`")])
        return lines.joined(separator: "\n")
    }

    package static let targetMeaning =
        "TARGET is a mount point, a path inside one, or a store. The default is $PURGEFS_MOUNT, or else the mount "
        + "that contains the working directory. An unmounted store is read and changed in place."

    /// Returns the text of `purgefs help VERB`.
    package static func page(_ verb: Verb) -> String {
        var lines = ["purgefs \(verb.name): \(verb.summary)", "", "USAGE"]
        lines += wrapped(verb.usage, indent: margin, hanging: margin + margin)
        lines += ["", "DESCRIPTION"]
        let description = verb.description + [reference(verb)].compactMap { $0 }
        lines += Array(description.map { wrapped($0, indent: margin) }.joined(separator: [""]))
        let options = verb.options.filter { !$0.isHidden }
        if !options.isEmpty {
            lines += ["", "OPTIONS"] + table(options.map { .init($0.synopsis, $0.help) })
        }
        for section in verb.sections {
            lines += ["", section.title] + table(section.lines)
        }
        if !verb.ownExitStatus.isEmpty { lines += ["", "EXIT STATUS"] + table(verb.ownExitStatus) }
        if !verb.examples.isEmpty {
            lines += ["", verb.examples.count == 1 ? "EXAMPLE" : "EXAMPLES"] + verb.examples.map { margin + $0 }
        }
        return lines.joined(separator: "\n")
    }

    /// Returns a sentence that refers the reader to the overview for TARGET and the common exit statuses; nil if neither
    /// concerns this verb.
    private static func reference(_ verb: Verb) -> String? {
        let target = verb.synopsis.contains("TARGET") ? "TARGET" : nil
        let status: String? =
            switch (verb.ownExitStatus.count, verb.exitStatus.count) {
            case (0, _): "the exit statuses"
            case (let own, let all) where own < all: "the other exit statuses"
            default: nil
            }
        let subjects = [target, status].compactMap { $0 }.joined(separator: " and ")
        return subjects.isEmpty ? nil : "`purgefs --help` explains \(subjects)."
    }

    /// Returns a table with names on the left and wrapped meanings on the right. A long name gets its own line.
    package static func table(_ rows: [HelpSection.Line]) -> [String] {
        let longest = rows.map(\.name.count).max() ?? 0
        let column = longest == 0 ? 0 : min(26, longest + 2)
        let indent = margin + padded("", column)
        return rows.flatMap { row in
            var lines = wrapped(row.meaning, indent: indent)
            if row.name.count + 2 > column && !row.name.isEmpty {
                lines.insert(margin + row.name, at: 0)
            } else if let first = lines.first {
                lines[0] = margin + padded(row.name, column) + first.dropFirst(indent.count)
            }
            return lines
        }
    }

    package static func wrapped(_ text: String, indent: String, hanging: String? = nil) -> [String] {
        var lines: [String] = []
        var line = indent
        var isEmpty = true
        for word in text.split(separator: " ") {
            if !isEmpty && line.count + 1 + word.count > width {
                lines.append(line)
                line = hanging ?? indent
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return lines + [line]
    }

    package static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    package static func aligned(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
