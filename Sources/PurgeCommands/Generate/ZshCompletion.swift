import PurgeCommandLine

/// Completion for zsh: a call of `_arguments` for each verb.
struct ZshCompletion {
    let verbs: [Verb]

    var text: String {
        var lines = [Self.header] + verbs.flatMap(changes) + verbs.flatMap(splitting)
        lines += ["_purgefs() {", "  local curcontext=$curcontext state line", "  typeset -A opt_args"]
        lines += ["  local -a verbs=("]
        lines += Verbs.firstWords(verbs).map { "    " + ShellText.quoted("\($0.name):\($0.meaning)") }
        lines += ["  )", "  _arguments -C '1: :->verb' '*:: :->rest' && return", "  case $state in"]
        lines += ["    verb) _describe -V verb verbs ;;", "    rest)", "      case $words[1] in"]
        for verb in verbs { lines += branch(verb) }
        lines += ["        help) _arguments '1:verb:(\(verbs.map(\.name).joined(separator: " ")))' ;;"]
        return (lines + ["      esac ;;", "  esac", "}", "", "_purgefs \"$@\""]).joined(separator: "\n")
    }

    private static let header = """
        #compdef purgefs
        # Completion of purgefs for zsh, made by `purgefs generate zsh` from the table that its help is made from.

        """

    private func branch(_ verb: Verb) -> [String] {
        var lines = ["        \(([verb.name] + verb.aliases).joined(separator: "|")))"]
        if !moments(verb).isEmpty { lines.append("          \(splitter(verb))") }
        lines.append("          _arguments -s \\")
        let specs = (verb.shownOptions.map { spec($0, of: verb) } + operandSpecs(verb)).map(ShellText.quoted)
        lines += specs.enumerated().map { index, spec in
            "            \(spec)" + (index == specs.count - 1 ? " ;;" : " \\")
        }
        return lines
    }

    /// Returns an argument of `_arguments`, such as `*--type=[only events of this type]:TYPE:(purge refused)`.
    private func spec(_ option: OptionSpec, of verb: Verb) -> String {
        let help = "[\(escaped(option.help.replacing("[", with: "(").replacing("]", with: ")")))]"
        guard let completion = option.completion else { return option.text + help }
        if case .moment = completion {
            return "*\(option.text)=\(help):DURATION: :NAME=VALUE:\(function(verb))"
        }
        let name = "*" + option.text + (option.isShort ? "+" : option.isOptional ? "=-" : "=")
        let word = option.synopsis.drop { $0 != " " && $0 != "=" }.dropFirst().filter { !"[]".contains($0) }
        return name + help + (option.isOptional ? "::" : ":") + escaped(String(word)) + ":" + action(completion)
    }

    private func operandSpecs(_ verb: Verb) -> [String] {
        let words = verb.words.isEmpty ? [] : ["1:what to do:(\(verb.words.joined(separator: " ")))"]
        switch verb.operandCompletion {
        case .command: return ["(-)1:command: _command_names -e", "*::arguments: _normal"]
        case .nothing: return words
        case let completion:
            guard verb.settings.isEmpty else {
                return ["*: : _alternative \"settings:setting:\(function(verb))\" \"targets:target:_files -/\""]
            }
            return words + ["*:\(completion == .files ? "path" : "directory"):\(action(completion))"]
        }
    }

    private func function(_ verb: Verb) -> String { "_purgefs_\(verb.name)_settings" }

    /// Returns a function that offers NAME=VALUE for a verb that takes it as an operand or after a time.
    private func changes(_ verb: Verb) -> [String] {
        let settings = verb.settings + verb.shownOptions.flatMap(\.settings)
        if settings.isEmpty { return [] }
        let names = settings.filter { $0.words.isEmpty }.flatMap(\.beginnings)
        let whole = settings.filter { !$0.words.isEmpty }.flatMap(\.beginnings)
        return [
            "\(function(verb))() {", "  compadd \"$@\" -S '' -- \(names.joined(separator: " "))",
            "  compadd \"$@\" -- \(whole.joined(separator: " "))", "}", "",
        ]
    }

    /// Returns the options that take a time and a change, as two words or as one.
    private func moments(_ verb: Verb) -> [OptionSpec] {
        verb.shownOptions.filter { option in
            if case .moment = option.completion { true } else { false }
        }
    }

    private func splitter(_ verb: Verb) -> String { "_purgefs_\(verb.name)_words" }

    /// Returns a function that splits the one-word form into two, since `_arguments` needs a fixed number of words.
    private func splitting(_ verb: Verb) -> [String] {
        let names = moments(verb).map(\.text)
        if names.isEmpty { return [] }
        let conditions = names.map { "$words[at] == \($0)=* || $words[at-1] == \($0)" }.joined(separator: " || ")
        return [
            "\(splitter(verb))() {",
            """
              local -i at=2
              local word
              while ((at < CURRENT)) && [[ $words[at] != -- ]]; do
                word=
                [[ \(conditions) ]] && word=${(Q)words[at]}
                if [[ $word == *\\ * ]]; then
                  words=("${(@)words[1,at-1]}" "${(q)word%% *}" "${(q)word#* }" "${(@)words[at+1,-1]}")
                  ((CURRENT += 1, at += 1))
                  compstate[restore]= # the caller is to see these words
                fi
                ((at += 1))
              done
            }

            """,
        ]
    }

    private func action(_ completion: Completion) -> String {
        switch completion {
        case .nothing, .command, .moment: " "
        case .files: "_files"
        case .directories: "_files -/"
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .list(let words): "_sequence compadd - \(words.joined(separator: " "))"
        }
    }

    private func escaped(_ text: String) -> String {
        text.replacing(#"\"#, with: #"\\"#).replacing(":", with: #"\:"#)
    }
}
