import PurgeCommandLine

/// The completions that a shell offers at one place of the command line.
enum Completion: Hashable {
    /// A value without completions.
    case nothing
    case files
    case directories
    /// One of these words.
    case words([String])
    /// One or several of these words, separated by commas.
    case list([String])
    /// A word without completions, followed by NAME=VALUE as a separate word.
    case moment([Setting])
    /// A program, followed by its own arguments.
    case command
}

extension OptionSpec {
    /// The completion of the option's value; nil if it takes none.
    var completion: Completion? {
        switch value {
        case .none: nil
        case .size, .duration, .text, .number: .nothing
        case .moment(let settings): .moment(settings)
        case .list(_, let words): .list(words)
        case .file: .files
        case .directory: .directories
        case .choice(_, let words, _), .optionalChoice(_, let words): .words(words)
        }
    }

    /// The settings that complete the option's second word; empty if the option takes fewer words.
    var settings: [Setting] {
        if case .moment(let settings) = value { settings } else { [] }
    }

    /// Whether the option's value may be omitted. If it is given, it must follow `=`.
    var isOptional: Bool {
        if case .optionalChoice = value { true } else { false }
    }
}

extension Verb {
    /// The completion of the operands after the words that name the action, derived from the synopsis.
    var operandCompletion: Completion {
        if endsAtFirstOperand { return .command }
        if operands.upperBound == words.count.signum() { return .nothing }
        return synopsis.contains("PATH") ? .files : .directories
    }

    /// The options that help shows, and `--help`.
    var shownOptions: [OptionSpec] {
        options.filter { !$0.isHidden } + [OptionSpec("help", "show the help of this verb")]
    }
}

extension Verbs {
    /// Returns the words that may follow `purgefs`, each with its summary.
    static func firstWords(_ verbs: [Verb]) -> [HelpSection.Line] {
        verbs.map { .init($0.name, $0.summary) } + [
            .init("help", "show the help of a verb"), .init("--help", "list the verbs"),
            .init("--version", "show the version"),
        ]
    }
}

/// Quoting for the three shells.
enum ShellText {
    /// Returns one word in single quotes, for bash and zsh.
    static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: #"'\''"#) + "'" }
    /// Returns one word in single quotes, for fish.
    static func fishQuoted(_ text: String) -> String {
        "'" + text.replacing(#"\"#, with: #"\\"#).replacing("'", with: #"\'"#) + "'"
    }
}
