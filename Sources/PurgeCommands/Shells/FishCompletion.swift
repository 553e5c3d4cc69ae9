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
        for verb in verbs { lines += self.lines(of: verb) }
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
        """

    private func lines(of verb: Verb) -> [String] {
        let names = ([verb.name] + verb.aliases).joined(separator: " ")
        var lines = verb.shownOptions.map { line(names, self.option($0)) }
        let words = verb.words + verb.settings.map { $0 + "=" }
        if !words.isEmpty {
            let list = "-a \(ShellText.fishQuoted(words.joined(separator: " ")))"
            lines.append(line(names, list, when: verb.words.isEmpty ? "__purgefs_verb" : "__purgefs_first"))
        }
        if let operand = operand(verb.operandCompletion) { lines.append(line(names, operand)) }
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
        case .nothing, .command: return "\(name) -x \(help)"
        }
    }

    private static let directories = "(__fish_complete_directories)"

    private func operand(_ completion: Completion) -> String? {
        switch completion {
        case .nothing, .words: nil
        case .files: "-F"
        case .directories: "-a '\(Self.directories)'"
        case .command: "-a '(__fish_complete_subcommand --fcs-skip=2)'"
        }
    }
}
