import PurgeCommandLine
import PurgeModel

extension OptionSpec {
    static let backupOutput = OptionSpec(
        "output", .directory,
        "create: where to write it; a new or an empty directory, or - for one tar archive on "
            + "standard output")
    static let verbose = OptionSpec("verbose", "list everything that was left out or is missing, not just the first")
}

extension Verb {
    package static let backup = Verb(
        name: "backup", summary: "back up a container, restore one, or audit what would be in it",
        synopsis: "(create [TARGET] --output DIR | restore DIR STORE | audit [TARGET]) [--json] [--verbose]",
        description: BackupVerb.description,
        options: [.backupOutput, OptionSpec("json", "print one JSON object"), .verbose],
        operands: 0...3, words: ["create", "restore", "audit"],
        exitStatus: ExitStatus.plain + [
            ExitStatus.signalLine("signal N ended it; only what the message names is left behind")
        ],
        examples: [
            "purgefs backup create ./app --output ./saved",
            "purgefs backup create ./app --output - | purgefs backup restore - ./new",
            "purgefs backup audit ./app",
        ]
    ) { (invocation) throws(CommandFailure) in try BackupVerb.run(invocation) }
}

private enum BackupVerb {
    static let description = [
        "create writes everything but tmp, Library/Caches and what is excluded by isExcludedFromBackup, on an item "
            + "or on a folder above it: DIR/manifest.json says what went in, and what did not and why; DIR/data.tar "
            + "has the data. A mounted container is read through its mount, so on a locked device it fails, and "
            + "each file counts as used.",
        "restore makes a new store as a restored phone would have it: with another container UUID, without what "
            + "was left out, and with the settings of the device. It compares everything with the manifest first; "
            + "a backup that is damaged or not complete leaves nothing behind. DIR is a directory, an archive from "
            + "--output -, or - for one on standard input. If the store that was backed up is there, restore "
            + "prints what the new one lacks of it.",
        "audit shows what a backup would contain by folder, tier and size, and what to look at.",
        HelpText.targetMeaning,
    ]

    static func run(_ invocation: Invocation) throws(CommandFailure) -> Int32 {
        guard !invocation.arguments.operands.isEmpty else {
            throw .usage("say what to do: create, restore or audit")
        }
        switch try invocation.word() {
        case "create": try BackupCreateCommand(invocation).run()
        case "restore": try BackupRestoreCommand(invocation).run()
        default: try BackupAuditCommand(invocation).run()
        }
        return ExitStatus.done
    }
}
