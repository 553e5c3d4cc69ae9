/// The table of verbs, in the order of the help. A new verb is a line here and a file in Verbs/.
enum Verbs {
    static let all: [Verb] = [.run, .mount, .unmount, .status, .set, .mark, .purge, .events, .check]

    static func named(_ name: String) throws(CommandFailure) -> Verb {
        guard let verb = all.first(where: { $0.name == name }) else {
            throw .usage(name.hasPrefix("-") ? "unknown option '\(name)'" : "unknown verb '\(name)'")
        }
        return verb
    }
}

extension OptionSpec {
    static let json = OptionSpec("json", "print JSON")
    static let dryRun = OptionSpec("dry-run", "show what would be done, and do nothing")
}

extension Verb {
    /// For verbs that know no other endings.
    static let plainExitStatus: [HelpSection.Line] = [
        .init("0", "done"),
        .init("1", "failed; the message says what, on which path, and what to do next"),
        .init("64", "wrong usage"),
    ]
}
