import PurgeBackup
import PurgeCleaning
import PurgeCommandLine
import PurgeContainers
import PurgeDiagnosis
import PurgeReport
import PurgeSystem
import PurgeWhy

/// The table of verbs, in the order of the help. A new verb needs a line here, and a folder beside this file or its own target.
enum Verbs {
    /// Verbs are built on demand, because building all of them takes longer than mounting.
    private static let table: [@Sendable () -> Verb] = [
        { .run }, { .sweep }, { .replay }, { .mount }, { .unmount }, { .list }, { .status }, { .set }, { .mark },
        { .purge },
        { .policy },
        { .clean },
        { .device }, { .clock }, { .app }, { .events }, { .diagnose },
        { .report(addFindings: ReportContent.addFindings) }, { .why }, { .backup }, { .check },
    ]
    /// Verbs for purgefs's own use, which help does not show.
    private static let hidden: [@Sendable () -> Verb] = [{ .generate }]

    static let all = table.map { $0() }

    static func named(_ name: String) throws(CommandFailure) -> Verb {
        for makeVerb in table + hidden {
            let verb = makeVerb()
            if verb.name == name || verb.aliases.contains(name) { return verb }
        }
        throw .usage(objection(to: name))
    }

    /// Returns the objection to a call by a mount helper. mount(8) passes the type fuse.purgefs on to mount.fuse, which calls
    /// `purgefs STORE MOUNTPOINT -o OPTIONS`.
    static func objection(toMountHelper words: [String]) -> String? {
        guard words.count == 5, words[1].contains("/"), words[3] == "-o" else { return nil }
        if words[4].split(separator: ",").contains("remount") {
            return "\(words[2]): a container cannot be remounted; unmount it and mount it again"
        }
        return "the type for mount(8) and fstab is purgefs, not fuse.purgefs: "
            + ShellWord.line(["mount", "-t", "purgefs"] + words[1...])
    }

    /// Verbs of simctl, docker and other tools, each with ours that does the same with the same operands.
    private static let elsewhere = [
        "boot": "mount", "shutdown": "unmount", "ls": "list", "ps": "list", "df": "status", "log": "events",
        "logs": "events", "fsck": "check",
    ]
    /// Words for which a command with the same operands would do something else. Each has the verb whose help says more.
    private static let related = [
        "create": "mount", "erase": "app", "clone": "run", "exec": "run", "remove": "policy", "reset": "policy",
        "delete": "app", "update": "app", "fault": "run", "faults": "run", "inject": "run",
    ]

    private static func objection(to name: String) -> String {
        if Planned.verbs.contains(name) { return "the verb '\(name)' is planned, but not built yet" }
        if name.contains("/") {
            return "'\(name)' is a path, not a verb; did you mean `purgefs status \(ShellWord.of(name))`?"
        }
        if let verb = related[name] { return "unknown verb '\(name)'; see `purgefs help \(verb)`" }
        if let ours = elsewhere[name] { return "unknown verb '\(name)'; did you mean 'purgefs \(ours)'?" }
        if let verb = all.first(where: { $0.words.contains(name) }) {
            return "unknown verb '\(name)'; did you mean 'purgefs \(verb.name) \(name)'?"
        }
        let isOption = name.hasPrefix("-")
        if isOption, all.contains(where: { $0.takes(name) }) {
            return "the option '\(name)' must come after the verb"
        }
        let known =
            isOption ? ["--help", "--version"] : all.flatMap { [$0.name] + $0.aliases } + ["help", "--version"]
        return "unknown \(isOption ? "option" : "verb") '\(name)'" + Suggestion.hint(for: name, among: known)
    }
}

extension Arguments {
    init(_ words: [String], for verb: Verb) throws(CommandFailure) { try self.init(words, for: verb, among: Verbs.all) }
}
