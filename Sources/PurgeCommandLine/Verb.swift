import PurgeSystem

/// A verb of the command line: everything that parsing and help need, and the code that runs it.
package struct Verb: Sendable {
    package let name: String
    /// Other accepted names.
    package var aliases: [String] = []
    /// The line in the list of verbs.
    package let summary: String
    /// The text after the verb's name in the usage line.
    package let synopsis: String
    /// Paragraphs, wrapped when they are shown.
    package let description: [String]
    package let options: [OptionSpec]
    /// How many operands the verb takes.
    package let operands: ClosedRange<Int>
    /// The words for the first operand, if that names an action.
    package var words: [String] = []
    /// The names that an operand NAME=VALUE may begin with.
    package var settings: [Setting] = []
    /// Whether the first operand ends the options, because a command begins there.
    package var endsAtFirstOperand = false
    /// Whether operands may be paths that are not UTF-8, because the verb works on bytes.
    package var takesAnyBytes = false
    /// Further sections of the help. Each has a title, and lines that pair a name with its meaning.
    package var sections: [HelpSection] = []
    package let exitStatus: [HelpSection.Line]
    /// Examples of use. A test runs them with the store ./app.store, mounted at ./app except for `run`, `mount` and `check`.
    package var examples: [String] = []
    package let perform: @Sendable (Invocation) throws(CommandFailure) -> Int32

    package init(
        name: String, aliases: [String] = [], summary: String, synopsis: String, description: [String],
        options: [OptionSpec], operands: ClosedRange<Int>, words: [String] = [], settings: [Setting] = [],
        endsAtFirstOperand: Bool = false, takesAnyBytes: Bool = false, sections: [HelpSection] = [],
        exitStatus: [HelpSection.Line], examples: [String] = [],
        perform: @escaping @Sendable (Invocation) throws(CommandFailure) -> Int32
    ) {
        (self.name, self.aliases, self.summary, self.synopsis) = (name, aliases, summary, synopsis)
        (self.description, self.options, self.operands) = (description, options, operands)
        (self.words, self.settings, self.endsAtFirstOperand) = (words, settings, endsAtFirstOperand)
        (self.takesAnyBytes, self.sections, self.exitStatus) = (takesAnyBytes, sections, exitStatus)
        (self.examples, self.perform) = (examples, perform)
    }

    package var usage: String { "purgefs \(name)\(synopsis.isEmpty ? "" : " ")\(synopsis)" }

    /// The exit statuses whose meaning differs from `ExitStatus.plain`.
    package var ownExitStatus: [HelpSection.Line] { exitStatus.filter { !ExitStatus.plain.contains($0) } }

    /// The required operands, by their names in the synopsis: words outside of all brackets.
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
package struct HelpSection: Sendable {
    package struct Line: Equatable, Sendable {
        package var name: String
        package var meaning: String
        package init(_ name: String, _ meaning: String) {
            self.name = name
            self.meaning = meaning
        }
    }
    package var title: String
    package var lines: [Line]

    package init(title: String, lines: [Line]) { (self.title, self.lines) = (title, lines) }
}

/// One invocation of a verb.
package struct Invocation {
    package let arguments: Arguments
    package let console: Console
    /// The program's name as the user called it.
    package let programName: String
    /// The operands byte for byte, for passing them on to a command.
    package let rawOperands: [[CChar]]
    package let verb: Verb
    /// The service manager that waits for this process, if there is one.
    package let serviceManager: ServiceManager?

    package init(
        arguments: Arguments, console: Console, programName: String, rawOperands: [[CChar]], verb: Verb,
        serviceManager: ServiceManager?
    ) {
        (self.arguments, self.console, self.programName) = (arguments, console, programName)
        (self.rawOperands, self.verb, self.serviceManager) = (rawOperands, verb, serviceManager)
    }
}

extension Invocation {
    /// Returns the action, which is the first operand. Throws a usage failure, with a suggestion if possible, if the verb has
    /// no such action. There must be an operand.
    package func word() throws(CommandFailure) -> String {
        let operands = arguments.operands
        if verb.words.contains(operands[0]) { return operands[0] }
        let hint = Suggestion.hint(for: operands[0], among: verb.words)
        if hint.isEmpty, let later = operands.dropFirst().first(where: verb.words.contains) {
            guard operands.count == 2 else {
                throw .usage("'\(later)' must be the first word after 'purgefs \(verb.name)'")
            }
            let meant = ShellWord.line(["purgefs", verb.name, later, operands[0]])
            throw .usage("'\(later)' comes first; did you mean `\(meant)`?")
        }
        if hint.isEmpty, verb.words.count == 1, operands[0].first == "+" || operands[0].first?.isNumber == true {
            let meant = ShellWord.line(["purgefs", verb.name] + verb.words + operands)
            throw .usage("'\(verb.words[0])' is missing; did you mean `\(meant)`?")
        }
        throw .usage("'\(operands[0])' is not \(verb.wordsInWords)" + hint)
    }

    /// Returns the operand that names a container, if it was given.
    package func target(at index: Int) -> String? { arguments.operands.dropFirst(index).first }
}

extension Verb {
    fileprivate var wordsInWords: String {
        guard let last = words.last, words.count > 1 else { return words.first.map { "'\($0)'" } ?? "" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }
}

extension Verb {
    /// Whether `word` is one of the verb's options as a user writes it, with or without a value.
    package func takes(_ word: String) -> Bool {
        options.contains { !$0.isHidden && $0.text == word.prefix { $0 != "=" } }
    }

    /// Returns how many words after `word` are its value, if it is an option of this verb; `next` is the word after it.
    package func values(after word: String, _ next: String?) -> Int {
        guard let option = options.first(where: { $0.text == word }) else { return 0 }
        return switch option.value {
        case .none, .optionalChoice: 0
        case .moment: next?.contains(" ") == true ? 1 : 2
        default: 1
        }
    }

    /// Returns the message about `word`, which is not an option of this verb but may be one of another verb.
    package func objection(toOption word: String, among verbs: [Verb]) -> String {
        if name == "clock", word.dropFirst().first?.isNumber == true {
            return DurationText.objection(to: word) ?? ""
        }
        let written = String(word.prefix { $0 != "=" })
        if Planned.options[name]?.contains(where: { "--" + $0 == written }) == true {
            return "the option '\(written)' is planned, but not built yet"
        }
        let own = options.filter { !$0.isHidden && !$0.isShort }.map(\.text) + ["--help"]
        if written.utf8.count == 2, !written.hasPrefix("--") {
            // Another option with a value would take the next word.
            let longer = options.filter { $0.value == .none || $0.name == "output" }.map(\.text)
                .filter { own.contains($0) && $0.dropFirst(2).first == written.last }
            if longer.count == 1 { return "unknown option '\(written)'; did you mean '\(longer[0])'?" }
        }
        let takers = verbs.filter { $0.takes(word) }.map(\.name)
        if !takers.isEmpty {
            return
                "unknown option '\(written)'; only \(takers.joined(separator: ", ")) \(takers.count == 1 ? "has" : "have") it"
        }
        let short = options.contains { $0.name == "o" } ? ["-o ro"] : []
        if let near = Suggestion.nearest(to: written, among: own + short) {
            return "unknown option '\(written)'; did you mean '\(near)'?"
        }
        return "unknown option '\(written.hasPrefix("--") ? written : String(written.prefix(2)))'"
    }
}
