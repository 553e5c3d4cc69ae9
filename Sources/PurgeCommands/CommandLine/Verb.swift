import PurgeSystem

/// A verb of the command line: everything that parsing and help need, and the code that runs it.
struct Verb: Sendable {
    let name: String
    /// Other names that are accepted for it.
    var aliases: [String] = []
    /// One line for the list of verbs.
    let summary: String
    /// What follows the name in its usage line.
    let synopsis: String
    /// Paragraphs, wrapped when they are shown.
    let description: [String]
    let options: [OptionSpec]
    /// How many operands it takes.
    let operands: ClosedRange<Int>
    /// What the first operand may be, of a verb that does one of several things.
    var words: [String] = []
    /// The names that an operand NAME=VALUE may begin with.
    var settings: [Setting] = []
    /// Whether the first operand ends the options, because what follows belongs to a command.
    var endsAtFirstOperand = false
    /// Whether its operands may be paths that are not UTF-8: the verb works on their bytes.
    var takesAnyBytes = false
    /// Further sections of the help: a title, and lines of a name and its meaning.
    var sections: [HelpSection] = []
    let exitStatus: [HelpSection.Line]
    /// Commands that show how it is used. A test runs them with a container at ./app of the store ./app.store.
    var examples: [String] = []
    let run: @Sendable (Invocation) throws(CommandFailure) -> Int32

    var usage: String { "purgefs \(name)\(synopsis.isEmpty ? "" : " ")\(synopsis)" }

    /// The operands that are required, by their names in the synopsis: words outside of all brackets.
    var requiredOperands: [String] {
        var depth = 0
        let outside = synopsis.filter { character in
            if "[(".contains(character) { depth += 1 }
            if "])".contains(character) { depth -= 1 }
            return depth == 0 && !"])".contains(character)
        }
        return outside.split(separator: " ").map { $0.filter { $0 != "." } }
    }
}

/// A titled table in a help text.
struct HelpSection: Sendable {
    struct Line: Sendable {
        var name: String
        var meaning: String
        init(_ name: String, _ meaning: String) {
            self.name = name
            self.meaning = meaning
        }
    }
    var title: String
    var lines: [Line]
}

/// One call of a verb.
struct Invocation {
    let arguments: Arguments
    let console: Console
    /// As the user called the program.
    let programName: String
    /// The operands again, byte for byte, for a command that is handed on.
    let rawOperands: [[CChar]]
    let verb: Verb
    /// Who waits for this process, if it is a service.
    let serviceManager: ServiceManager?
}

extension Invocation {
    /// The first operand, of a verb that does one of several things.
    func word() throws(CommandFailure) -> String {
        let operands = arguments.operands
        if verb.words.contains(operands[0]) { return operands[0] }
        let hint = Suggestion.hint(for: operands[0], among: verb.words)
        if hint.isEmpty, let later = operands.dropFirst().first(where: verb.words.contains) {
            let others = operands.filter { $0 != later }.joined(separator: " ")
            throw .usage("'\(later)' comes first; did you mean 'purgefs \(verb.name) \(later) \(others)'?")
        }
        if hint.isEmpty, verb.words.count == 1 {
            let meant = (["purgefs", verb.name] + verb.words + operands).joined(separator: " ")
            throw .usage("'\(verb.words[0])' is missing; did you mean '\(meant)'?")
        }
        throw .usage("'\(operands[0])' is not \(verb.wordsInWords)" + hint)
    }

    /// The operand that names a container, if it was given.
    func target(at index: Int) -> String? { arguments.operands.dropFirst(index).first }
}

extension Verb {
    fileprivate var wordsInWords: String {
        guard let last = words.last, words.count > 1 else { return words.first.map { "'\($0)'" } ?? "" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }
}
