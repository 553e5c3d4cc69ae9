import PurgeCommandLine
import PurgeModel

extension OptionSpec {
    static let backupOutput = OptionSpec(
        "output", .directory,
        "create: the backup to write: a new or an empty directory, or - for one tar archive on standard output")
    static let verbose = OptionSpec(
        "verbose", "list all items that were left out or are missing, not just the first ten")
}

extension Verb {
    package static let backup = Verb(
        name: "backup", summary: "back up a container, restore a backup, or audit one",
        synopsis: "(create [TARGET] --output DIR | restore DIR STORE | audit [TARGET]) [--json] [--verbose]",
        description: BackupVerb.description,
        options: [.backupOutput, OptionSpec("json", "print one JSON object"), .verbose],
        operands: 0...3, words: ["create", "restore", "audit"],
        exitStatus: ExitStatus.plain + [
            ExitStatus.signalLine("signal N ended it; nothing is left behind unless the message says so")
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
        "create writes everything except tmp, Library/Caches and items excluded by isExcludedFromBackup, on the item "
            + "or on a folder above it. DIR/manifest.json lists the items, and with reasons the items left out; "
            + "DIR/data.tar has the data. A mounted container is read through its mount, so a locked device makes it "
            + "fail. Files count as used only if neither root nor their owner makes the backup.",
        "restore makes a new store as a restored phone would have it: with another container UUID, with the settings "
            + "of the device, and without the items left out. It checks everything against the manifest first; a "
            + "damaged or incomplete backup leaves nothing behind. DIR is a directory, an archive from --output -, or "
            + "- for an archive on standard input. If the original store still exists, restore lists its items that "
            + "the new one lacks.",
        "audit shows the content of a backup by folder, tier and size, with findings.",
    ]

    static func run(_ invocation: Invocation) throws(CommandFailure) -> Int32 {
        guard !invocation.arguments.operands.isEmpty else {
            throw .usage("the action is missing: create, restore or audit")
        }
        switch try invocation.word() {
        case "create": try BackupCreateCommand(invocation).run()
        case "restore": try BackupRestoreCommand(invocation).run()
        default: try BackupAuditCommand(invocation).run()
        }
        return ExitStatus.done
    }
}
