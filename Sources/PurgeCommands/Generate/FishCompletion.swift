import PurgeCommandLine

/// Completion for fish: a line for each verb, option and operand.
struct FishCompletion {
    let verbs: [Verb]

    var text: String {
        var lines = [Self.header, "complete -c purgefs -f"]
        let names = (verbs.flatMap { [$0.name] + $0.aliases } + ["help"]).joined(separator: " ")
        lines.append("set -l verbs \(names)")
        lines += Verbs.firstWords(verbs).map { line in
            "complete -c purgefs -n \"not __fish_seen_subcommand_from $verbs\" -a \(line.name)"
                + " -d \(ShellText.fishQuoted(line.meaning))"
        }
        for verb in verbs { lines += FishCommand(of: verb).functions + self.lines(of: verb) }
        lines.append(line("help", "-a \(ShellText.fishQuoted(verbs.map(\.name).joined(separator: " ")))"))
        return lines.joined(separator: "\n")
    }

    private static let header = """
        # Completion of purgefs for fish, made by `purgefs generate fish` from the table that its help is made from.

        # Whether the first word is one of these.
        function __purgefs_verb
            set -l words (commandline -opc)
            set -q words[2]; and contains -- $words[2] $argv
        end

        # Whether it is, and only options follow it.
        function __purgefs_first
            __purgefs_verb $argv; or return
            set -l words (commandline -opc)
            not string match -qv -- '-*' $words[3..-1]
        end

        # Several of these words, separated by commas, after what is typed.
        function __purgefs_list
            set -l typed (commandline -ct | string replace -r '^--[^=]*=' '')
            set -l before (string match -r '.*,' -- $typed)
            printf '%s\n' "$before"$argv
        end
        """

    private func lines(of verb: Verb) -> [String] {
        let names = ([verb.name] + verb.aliases).joined(separator: " ")
        let condition = verb.operandCompletion == .command ? "__purgefs_\(verb.name)_before" : "__purgefs_verb"
        var lines = verb.shownOptions.map { line(names, self.option($0), when: condition) }
        let words = verb.words + verb.settings.flatMap(\.beginnings)
        if !words.isEmpty {
            let list = "-a \(ShellText.fishQuoted(words.joined(separator: " ")))"
            lines.append(line(names, list, when: verb.words.isEmpty ? "__purgefs_verb" : "__purgefs_first"))
        }
        if let operand = operand(of: verb) { lines.append(line(names, operand)) }
        return lines
    }

    private func line(_ names: String, _ rest: String, when condition: String = "__purgefs_verb") -> String {
        "complete -c purgefs -n '\(condition) \(names)' \(rest)"
    }

    private func option(_ option: OptionSpec) -> String {
        let name = (option.isShort ? "-s " : "-l ") + option.name
        let help = "-d \(ShellText.fishQuoted(option.help))"
        switch option.completion {
        case nil: return "\(name) \(help)"
        case .files: return "\(name) -rF \(help)"
        case .directories: return "\(name) -xa '\(Self.directories)' \(help)"
        case .words(let words) where option.isOptional:
            return "\(name) -fa \(ShellText.fishQuoted(words.joined(separator: " "))) \(help)"
        case .words(let words): return "\(name) -xa \(ShellText.fishQuoted(words.joined(separator: " "))) \(help)"
        case .list(let words): return "\(name) -xa '(__purgefs_list \(words.joined(separator: " ")))' \(help)"
        case .nothing, .command, .moment: return "\(name) -x \(help)"
        }
    }

    private static let directories = "(__fish_complete_directories)"

    private func operand(of verb: Verb) -> String? {
        switch verb.operandCompletion {
        case .nothing, .words, .list, .moment: nil
        case .files: "-F"
        case .directories: "-a '\(Self.directories)'"
        case .command: "-a '(__purgefs_\(verb.name)_words)'"
        }
    }
}
