import PurgeCommandLine

/// The page purgefs(1). Its text about verbs and options is the help text.
struct ManualPage {
    let verbs: [Verb]

    var text: String {
        var lines = [#".\" Made by `purgefs generate man` from the table that the help is made from."#]
        lines += [".TH PURGEFS 1 \"\" \"purgefs \(Version.number)\" \"User Commands\"", ".nh", ".ad l"]
        lines += [".SH NAME", #"purgefs \- a simulated iOS app container as a file system"#, ".SH SYNOPSIS"]
        lines += verbs.flatMap { usage($0) }
        lines += [".SY \"purgefs help\"", Roff.synopsis("VERB"), ".YS", ".SY purgefs"]
        lines += [Roff.synopsis("--help | --version"), ".YS", ".SH DESCRIPTION"] + Roff.paragraphs(Self.description)
        lines += [".SH VERBS"] + verbs.flatMap(section)
        lines += [".SH MOUNT(8) AND FSTAB"] + mounting
        lines += [".SH ENVIRONMENT"] + Roff.table(Self.environment)
        lines += [".SH EXIT STATUS"] + Roff.table(ExitStatus.plain)
        lines += [".PP", Roff.prose("`purgefs run` has further ones, described there.")]
        lines += [".SH SEE ALSO", ".BR fusermount3 (1),", ".BR setfattr (1),", ".BR mount (8)"]
        return lines.joined(separator: "\n")
    }

    private func usage(_ verb: Verb) -> [String] {
        [".SY \"purgefs \(verb.name)\"", Roff.synopsis(verb.synopsis), ".YS"]
    }

    private static let description = [
        "purgefs mounts a directory, the store, as the container of an iOS app on a device of a chosen size. Files in tmp "
            + "and Library/Caches, and files that are marked, are purged when the device has too little room; a locked "
            + "device refuses files by their protection class; time and restarts of the device are simulated.",
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
        lines += [".PP", "Exit status:"] + Roff.table(verb.exitStatus)
        if !verb.examples.isEmpty {
            lines += [".PP", verb.examples.count == 1 ? "Example:" : "Examples:"] + Roff.commands(verb.examples)
        }
        return lines
    }

    private var mounting: [String] {
        let names = OptionSpec.mounting.filter { !$0.isShort }.map { option in
            option.completion == nil ? option.name : "\(option.synopsis.dropFirst(2).replacing(" ", with: "="))"
        }
        let last = names.last ?? ""
        return Roff.paragraphs([
            "Where mount.purgefs is in /sbin, mount(8) mounts stores too. Of the options after -o, "
                + names.dropLast().map { "`\($0)`" }.joined(separator: ", ") + " and `\(last)` are those of "
                + "`purgefs mount`; the others are for mount(8)."
        ])
            + Roff.commands([
                "mount -t purgefs /var/lib/app.store /mnt/app -o total=64G,others=40G",
                "/var/lib/app.store  /mnt/app  purgefs  total=64G,others=40G,nofail  0  0",
            ])
    }

    private static let environment: [HelpSection.Line] = [
        .init("PURGEFS_MOUNT", "the container that a verb without TARGET is about"),
        .init("TMPDIR", "where `purgefs run` makes its temporary store, instead of /tmp and /var/tmp"),
        .init("NOTIFY_SOCKET", "gets READY=1 and STOPPING=1 from `purgefs mount --foreground`; see sd_notify(3)"),
    ]
}
