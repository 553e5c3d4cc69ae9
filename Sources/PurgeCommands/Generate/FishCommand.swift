import PurgeCommandLine

/// Functions of fish for a verb whose operands are a command. They find where the command begins, and offer completions there
/// and before it. They are needed because fish itself takes one word for the value of each option.
struct FishCommand {
    private let verb: Verb
    private let options: [OptionSpec]
    /// The options that take two words.
    private let moments: [OptionSpec]
    private let settings: [Setting]

    init(of verb: Verb) {
        self.verb = verb
        let all = verb.shownOptions.filter { $0.completion != nil && !$0.isOptional }
        settings = all.flatMap(\.settings)
        moments = all.filter { !$0.settings.isEmpty }
        options = all.filter { $0.settings.isEmpty }
    }

    var functions: [String] {
        guard verb.operandCompletion == .command else { return [] }
        return (start + offer).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private var start: String {
        """

        # The number of the word at which the command begins.
        function __purgefs_\(verb.name)_start
            set -l words (commandline -opc)
            set -l next 3
            while set -q words[$next]
                set -l word $words[$next]
                switch $word
                    case --
                        set next (math $next + 1)
                        break
                    case \(moments.map(\.text).joined(separator: " "))
                        # Two words, or both in one.
                        set -l after (math $next + 1)
                        set word "$words[$after]"
                        set next (math $next + (string match -q '* *' -- $word; and echo 2; or echo 3))
                    case \(moments.map { "'\($0.text)=*'" }.joined(separator: " "))
                        set next (math $next + (string match -q '* *' -- $word; and echo 1; or echo 2))
                    case \(options.map(\.text).joined(separator: " "))
                        set next (math $next + 2)
                    case '-*'
                        set next (math $next + 1)
                    case '*'
                        break
                end
            end
            echo $next
        end

        """
    }

    private var offer: String {
        """

        # Whether it has not begun.
        function __purgefs_\(verb.name)_before
            __purgefs_verb $argv; and test (__purgefs_\(verb.name)_start) -gt (count (commandline -opc))
        end

        # For a word that is no value of an option: the second one of an option, or one of the command.
        function __purgefs_\(verb.name)_words
            set -l words (commandline -opc)
            set -l current (commandline -ct)
            set -l next (__purgefs_\(verb.name)_start)
            if test $next -gt (math (count $words) + 1)
                printf '%s\\n' \(settings.flatMap(\.beginnings).joined(separator: " "))
            else if test $next -gt (count $words)
                string match -q -- '-*' $current; or complete -C "$current"
            else
                complete -C (string join ' ' -- (string escape -- $words[$next..-1]) "$current")
            end
        end

        """
    }
}
