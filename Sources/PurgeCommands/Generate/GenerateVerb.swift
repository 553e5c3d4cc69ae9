import PurgeCommandLine

extension Verb {
    /// The verb that `make install` uses; help does not show it.
    static let generate = Verb(
        name: "generate", summary: "print the manual page, or the completions of a shell",
        synopsis: "man|bash|zsh|fish",
        description: [
            "Prints purgefs(1) in the macros of man(7), or a file that lets a shell complete verbs, options and their "
                + "values. All of them are made from the table that the help is made from."
        ],
        options: [], operands: 1...1, words: ["man", "bash", "zsh", "fish"],
        exitStatus: ExitStatus.plain
    ) { (invocation) throws(CommandFailure) in
        let verbs = Verbs.all
        let text =
            switch try invocation.word() {
            case "man": ManualPage(verbs: verbs).text
            case "bash": BashCompletion(verbs: verbs).text
            case "zsh": ZshCompletion(verbs: verbs).text
            default: FishCompletion(verbs: verbs).text
            }
        try invocation.console.print(text)
        return ExitStatus.done
    }
}
