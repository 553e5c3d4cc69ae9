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
}
