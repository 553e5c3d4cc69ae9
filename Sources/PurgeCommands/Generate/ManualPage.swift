import PurgeCommandLine

/// The page purgefs(1). Its text about verbs and options is the help text.
struct ManualPage {
    let verbs: [Verb]

    var text: String {
        var lines = Roff.header("PURGEFS", 1, "User Commands")
        lines += [".SH NAME", #"purgefs \- a simulated iOS app container as a file system"#, ".SH SYNOPSIS"]
        lines += verbs.flatMap { usage($0) }
        lines += [".SY \"purgefs help\"", Roff.synopsis("VERB"), ".YS", ".SY purgefs"]
        lines += [Roff.synopsis("--help | --version"), ".YS", ".SH DESCRIPTION"] + Roff.paragraphs(Self.description)
        lines += [".SH VERBS"] + verbs.flatMap(section)
        lines += [".SH EXIT STATUS"] + Roff.table(ExitStatus.plain)
        lines += [".PP", Roff.prose("The sections of verbs list only statuses that differ from these.")]
        lines += [".SH ENVIRONMENT"] + Roff.table(Self.environment)
        lines += [".SH FILES"] + Roff.table(Self.files)
        lines += [".SH EXAMPLES"]
        lines += Self.examples.map { [Roff.prose($0.meaning)] + Roff.commands([$0.name]) }.joined(separator: [".PP"])
        lines += [".SH SEE ALSO", ".BR mount.purgefs (8),", ".BR fusermount3 (1),", ".BR setfattr (1)"]
        return lines.joined(separator: "\n")
    }

    private func usage(_ verb: Verb) -> [String] {
        [".SY \"purgefs \(verb.name)\"", Roff.synopsis(verb.synopsis), ".YS"]
    }

    private static let description = [
        "purgefs mounts a directory, the store, as the container of an iOS app on a device of a chosen size. Files in tmp "
            + "and Library/Caches, and marked files, are purged when the device has too little room. A locked device "
            + "refuses files by their protection class. Time and restarts of the device are simulated.",
        HelpText.targetMeaning,
        "A SIZE is written \(SizeText.forms). Options may come before or after operands, as `--name VALUE` or "
            + "`--name=VALUE`; `--` ends them.",
    ]

    private func section(_ verb: Verb) -> [String] {
        var lines = [".SS \(verb.name): \(Roff.plain(verb.summary))"]
        lines += usage(verb) + [".PP"] + Roff.paragraphs(verb.description)
        lines += Roff.table(
            verb.options.filter { !$0.isHidden }.map { .init($0.synopsis, $0.help) }, name: Roff.synopsis)
        for section in verb.sections { lines += [".PP", Roff.prose(section.title + ":")] + Roff.table(section.lines) }
        if !verb.ownExitStatus.isEmpty { lines += [".PP", "Exit status:"] + Roff.table(verb.ownExitStatus) }
        if !verb.examples.isEmpty {
            lines += [".PP", verb.examples.count == 1 ? "Example:" : "Examples:"] + Roff.commands(verb.examples)
        }
        return lines
    }

    private static let environment: [HelpSection.Line] = [
        .init("PURGEFS_MOUNT", "the container that a verb without TARGET uses"),
        .init("TMPDIR", "where `purgefs run` makes its temporary store, instead of /tmp and /var/tmp"),
        .init("PATH", "where fusermount3 is found, and COMMAND of `purgefs run`"),
        .init("NOTIFY_SOCKET", "gets READY=1 and STOPPING=1 from `purgefs mount --foreground`; see sd_notify(3)"),
    ]

    private static let files: [HelpSection.Line] = [
        .init("STORE/container/", "the files of the app, as plain files"),
        .init("STORE/device.json", "the settings and the state of the device"),
        .init("STORE/journal.sqlite", "the events, which `purgefs events` shows"),
        .init("STORE/last-words.txt", "the last message of a daemon that crashed"),
        .init("MOUNTPOINT/.purgefs/", "the control files: numbers of the device to read, and settings to write"),
        .init("/etc/fuse.conf", "has user_allow_other, if users other than root may use --allow-other"),
    ]

    private static let examples: [HelpSection.Line] = [
        .init("purgefs run --total 64M -- ./MyTests", "Run tests on a device of 64 MiB, in a container of their own:"),
        .init(
            "purgefs run --at 5s storage.others=60M --total 64M --fail-on refused -- ./MyTests",
            "Fill the device after five seconds, and fail if a write is refused:"),
        .init("purgefs mount --total 64G --others 40G ./app.store ./app", "Mount a container to work in it by hand:"),
        .init("purgefs why ./app/Library/Caches/photo.jpg", "Find out why a file is gone:"),
    ]
}
