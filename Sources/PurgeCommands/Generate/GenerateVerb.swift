import PurgeCommandLine

extension Verb {
    /// The verb that `make install` uses; help does not show it.
    static let generate = Verb(
        name: "generate", summary: "print a manual page, or the completions of a shell",
        synopsis: "man|man8|bash|zsh|fish",
        description: [
            "Prints purgefs(1) or mount.purgefs(8) in the macros of man(7), or a file that lets a shell complete verbs, "
                + "options and their values. All of them are made from the table that the help is made from."
        ],
        options: [], operands: 1...1, words: ["man", "man8", "bash", "zsh", "fish"],
        exitStatus: ExitStatus.plain
    ) { (invocation) throws(CommandFailure) in
        let verbs = Verbs.all
        let text =
            switch try invocation.word() {
            case "man": ManualPage(verbs: verbs).text
            case "man8": MountManualPage().text
            case "bash": BashCompletion(verbs: verbs).text
            case "zsh": ZshCompletion(verbs: verbs).text
            default: FishCompletion(verbs: verbs).text
            }
        try invocation.console.print(text)
        return ExitStatus.done
    }
}
