import PurgeCommandLine

/// Completion for bash: tables as `case` commands, and one function that finds the cursor's place.
struct BashCompletion {
    let verbs: [Verb]

    var text: String {
        let words = "_purgefs_first_words=\(list(Verbs.firstWords(verbs).map(\.name)))"
        return ([Self.header, words, ""] + verbTable + optionTable + [Self.function]).joined(separator: "\n")
    }

    private static let header = #"""
        # Completion of purgefs for bash, made by `purgefs generate bash` from the table that its help is made from.

        """#

    /// A function that sets `options`, `words` (for the first operand), `names` (for NAME=VALUE) and `operand` for a verb.
    private var verbTable: [String] {
        var lines = ["_purgefs_verb() {", "    options='' words='' names='' operand=nothing", "    case $1 in"]
        for verb in verbs {
            lines.append("        \(([verb.name] + verb.aliases).joined(separator: " | ")))")
            lines.append("            verb=\(verb.name) operand=\(kind(verb.operandCompletion))")
            lines.append("            options=\(list(verb.shownOptions.map(\.text)))")
            if !verb.words.isEmpty { lines.append("            words=\(list(verb.words))") }
            if !verb.settings.isEmpty { lines.append("            names=\(list(verb.settings.map { $0.name + "=" }))") }
            lines.append("            ;;")
        }
        return lines + ["        help) words=\(list(verbs.map(\.name))) ;;", "    esac", "}", ""]
    }

    /// A function that sets `value` to the kind of an option's value, or to the values after NAME= of a setting. `--option +`
    /// is the second word of an option that takes two.
    private var optionTable: [String] {
        var places: [String: [String]] = [:]
        func add(_ value: String, _ verb: Verb, _ place: String) {
            places[value, default: []].append("'\(verb.name) \(place)'")
        }
        for verb in verbs {
            var settings = verb.settings
            for option in verb.shownOptions {
                guard let completion = option.completion else { continue }
                add((option.isOptional ? "optional " : "") + kind(completion), verb, option.text)
                if option.settings.isEmpty { continue }
                add("names \(option.settings.map { $0.name + "=" }.joined(separator: " "))", verb, option.text + " +")
                settings += option.settings
            }
            for setting in settings where !setting.words.isEmpty {
                add(kind(.words(setting.words)), verb, setting.name)
            }
        }
        var lines = ["_purgefs_option() {", "    case \"$1 $2\" in"]
        for (value, names) in places.sorted(by: { $0.key < $1.key }) {
            lines += names.enumerated().map { index, name in
                "        \(name)" + (index == names.count - 1 ? ") value='\(value)' ;;" : " | \\")
            }
        }
        return lines + ["        *) value=none ;;", "    esac", "}", ""]
    }

    private func kind(_ completion: Completion) -> String {
        switch completion {
        case .nothing: "nothing"
        case .files: "files"
        case .directories: "directories"
        case .command: "command"
        case .words(let words): "words \(words.joined(separator: " "))"
        case .list(let words): "list \(words.joined(separator: " "))"
        case .moment: "moment"
        }
    }

    private func list(_ words: [String]) -> String { "'\(words.joined(separator: " "))'" }

    private static let function = #"""
        # Offers files, directories, or one of the words that follow `words`, `names` or `list`.
        _purgefs_offer() {
            local before=''
            case $1 in
                files | directories)
                    compopt -o filenames 2>/dev/null
                    mapfile -t COMPREPLY < <(compgen "$([[ $1 == files ]] && echo -f || echo -d)" -- "$cur") ;;
                words*) mapfile -t COMPREPLY < <(compgen -W "${1#words}" -- "$cur") ;;
                names*)
                    mapfile -t COMPREPLY < <(compgen -W "${1#names}" -- "$cur")
                    compopt -o nospace 2>/dev/null ;;
                list*)
                    if [[ $cur == *,* ]]; then before=${cur%,*},; fi
                    mapfile -t COMPREPLY < <(compgen -P "$before" -W "${1#list}" -- "${cur##*,}") ;;
            esac
        }

        # The command of `purgefs run`, which begins at word $1.
        _purgefs_command() {
            if declare -F _command_offset >/dev/null; then
                _command_offset "$1"
            elif ((COMP_CWORD == $1)) && [[ $cur != */* ]]; then
                mapfile -t COMPREPLY < <(compgen -c -- "$cur")
            else
                _purgefs_offer files
            fi
        }

        _purgefs() {
            local cur=${COMP_WORDS[COMP_CWORD]} verb='' options='' words='' names='' operand=nothing value=''
            local pending='' second='' last='' ended=no count=0 word i
            COMPREPLY=()
            for ((i = 1; i < COMP_CWORD; i++)); do
                word=${COMP_WORDS[i]}
                if [[ -z $verb ]]; then
                    verb=$word
                    _purgefs_verb "$word"
                elif [[ $word == [=:] && -n $last ]]; then
                    pending=$last # --name=VALUE and NAME=VALUE are three words here
                elif [[ -n $pending ]]; then
                    _purgefs_option "$verb" "$pending"
                    # Two words, or both in one.
                    if [[ $value == moment && $word != *' '* ]]; then second=$pending; fi
                    pending=''
                elif [[ -n $second ]]; then
                    second='' last=$word
                elif [[ $ended == no && $word == -- ]]; then
                    ended=yes
                elif [[ $ended == no && $word == -?* ]]; then
                    last=$word
                    _purgefs_option "$verb" "$word"
                    case $value in none | optional*) ;; *) pending=$word ;; esac
                elif [[ $operand == command ]]; then
                    _purgefs_command "$i"
                    return
                else
                    last=$word
                    ((count += 1))
                fi
            done
            if [[ $cur == [=:] && -n $last ]]; then pending=$last cur=''; fi
            if [[ -z $verb ]]; then
                _purgefs_offer "words $_purgefs_first_words"
            elif [[ -n $pending ]]; then
                _purgefs_option "$verb" "$pending"
                _purgefs_offer "${value#optional }"
            elif [[ -n $second ]]; then
                _purgefs_option "$verb" "$second +"
                _purgefs_offer "$value"
            elif [[ $ended == no && $cur == -* ]]; then
                _purgefs_offer "words $options"
            elif [[ $operand == command ]]; then
                _purgefs_command "$COMP_CWORD"
            elif [[ -n $words && $count == 0 ]]; then
                _purgefs_offer "words $words"
            else
                if [[ -n $names ]]; then _purgefs_offer "names $names"; fi
                if ! ((${#COMPREPLY[@]})); then compopt +o nospace 2>/dev/null; _purgefs_offer "$operand"; fi
            fi
        }

        complete -F _purgefs purgefs
        """#
}
