import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume

extension OptionSpec {
    fileprivate static let after = OptionSpec(
        "after", .text("AGE"),
        "purge files of this age: 30s, 5m, 2h, 3d, 1w, or \(PolicyVerb.ages.joined(separator: ", ")); 3, 7, 14 "
            + "and 30 are days")
    fileprivate static let limit = OptionSpec(
        "limit", .size, "when the files reach this total size, such as 10M, purge the oldest down to half of it")
}

extension Verb {
    static let policy = Verb(
        name: "policy", summary: "limit the age and total size of files in directories",
        synopsis: "(add DIR [--after AGE] [--limit SIZE] | list [TARGET] [--json] | remove DIR | check [TARGET] | "
            + "reset [TARGET])",
        description: [
            "A policy limits the age of the files below a directory, and their total size: files over the age are "
                + "purged and, when the size is reached, the oldest files. A file belongs to the nearest directory with a policy. The age "
                + "counts from the creation of the file, and is checked when the app is launched; the size also when "
                + "a write reaches the limit. The files are purged in the background.",
            "add: sets the attributes user.purgefs.purgeAfter and sizeLimit of DIR, makes DIR if it is missing, and "
                + "prints its path and policy. Without an option, the age is manual: only a reset and `purgefs clean` empty DIR.",
            "list: prints each directory with a policy, its limits and its files.",
            "remove: removes the policy of DIR; its files stay.",
            "check: checks the policies as a launch of the app does, and waits until the files are purged. The container "
                + "must be mounted.",
            "reset: empties all directories with a policy, open files included; the directories and their policies "
                + "stay.",
        ],
        options: [OptionSpec.after, OptionSpec.limit, OptionSpec("json", "print one JSON object per line")],
        operands: 0...2, words: ["add", "list", "remove", "check", "reset"], exitStatus: ExitStatus.plain,
        examples: [
            "purgefs policy add ./app/Documents/feed --after 3d --limit 10M", "purgefs policy list ./app",
            "purgefs policy reset ./app",
        ]
    ) { (invocation) throws(CommandFailure) in
        guard !invocation.arguments.operands.isEmpty else {
            throw .usage("the action is missing: add, list, remove, check or reset")
        }
        switch try invocation.word() {
        case "add": try PolicyVerb.add(invocation)
        case "remove": try PolicyVerb.remove(invocation)
        case "list": try PolicyVerb.list(invocation)
        case "check": try PolicyVerb.check(invocation)
        default: try PolicyVerb.reset(invocation)
        }
        return ExitStatus.done
    }
}

private enum PolicyVerb {
    /// The names of mPaaS's types.
    static let ages = ["manual", "threeDays", "oneWeek", "twoWeeks", "oneMonth"]
    /// The days of mPaaS's types, without `manual`.
    private static let days = ["3", "7", "14", "30"]

    static func add(_ invocation: Invocation) throws(CommandFailure) {
        let arguments = invocation.arguments
        try refuse([OptionSpec.json], of: "add", arguments)
        var values: [OfflineMarks.Mark] = []
        if let text = arguments.text(.after) {
            guard let age = StorageAttribute.purgeAfter.canonical(days.contains(text) ? text + "d" : text) else {
                throw .usage(objection(toAge: text))
            }
            values.append((.purgeAfter, age))
        }
        if let size = arguments.size(.limit), let text = arguments.text(.limit) {
            if let objection = SizeText.objection(toBare: text) { throw .usage("--limit: \(objection)") }
            values.append((.sizeLimit, "\(size.bytes)"))
        }
        if values.isEmpty { values.append((.purgeAfter, "0")) }
        let directory = try PolicyDirectory(try directory(of: invocation), making: true)
        try directory.set(values)
        let parts = values.map(inWords) + (directory.isNew ? ["the directory was made"] : [])
        try invocation.console.print(VisibleText.of(directory.path) + ": " + parts.joined(separator: ", "))
    }

    private static func inWords(_ attribute: StorageAttribute, _ value: String) -> String {
        guard attribute == .sizeLimit else { return "age \(value == "0" ? "manual" : value)" }
        return value == "0" ? "no limit" : "limit \(ByteCount(text: value)?.inWords ?? value)"
    }

    static func remove(_ invocation: Invocation) throws(CommandFailure) {
        try refuse([OptionSpec.after, .limit, .json], of: "remove", invocation.arguments)
        try PolicyDirectory(try directory(of: invocation), making: false).removePolicy()
    }

    static func list(_ invocation: Invocation) throws(CommandFailure) {
        try refuse([OptionSpec.after, .limit], of: "list", invocation.arguments)
        let console = invocation.console
        try Target.with(invocation.target(at: 1), forReading: console) { (control) throws(CommandFailure) in
            if invocation.arguments.has(.json) { return try console.write(control.content(of: .storagePolicies)) }
            for line in try control.policies() { try console.print(row(line)) }
        }
    }

    /// Returns a line with age, use, limit, number of files and path.
    private static func row(_ line: PolicyLine) -> String {
        let limit = line.sizeLimit ?? .zero
        return [
            HelpText.padded(line.purgeAfter.map { $0 == "0" ? "manual" : $0 } ?? "manual", 8),
            HelpText.aligned(line.used.inWords, 10), "of",
            HelpText.padded(limit > .zero ? limit.inWords : "no limit", 10),
            HelpText.aligned("\(line.files)", 8), line.files == 1 ? "file " : "files",
            VisibleText.of(line.path.isEmpty ? "." : line.path),
        ].joined(separator: " ")
    }

    static func check(_ invocation: Invocation) throws(CommandFailure) {
        try refuse([OptionSpec.after, .limit, .json], of: "check", invocation.arguments)
        try Target.with(invocation.target(at: 1)) { (control) throws(CommandFailure) in
            try control.requireMount("cannot check the policies")
            try control.command(PolicyCommand.check.rawValue, to: .storagePolicies, doing: "check the policies")
        }
    }

    static func reset(_ invocation: Invocation) throws(CommandFailure) {
        try refuse([OptionSpec.after, .limit, .json], of: "reset", invocation.arguments)
        try Target.requireWhole(invocation.target(at: 1), "cannot empty the directories")
        try Target.with(invocation.target(at: 1)) { (control) throws(CommandFailure) in
            try control.command(
                PolicyCommand.reset.rawValue, to: .storagePolicies, doing: "empty the directories that have a policy")
        }
    }

    private static func directory(of invocation: Invocation) throws(CommandFailure) -> String {
        guard let path = invocation.target(at: 1) else { throw .usage("DIR is missing") }
        return path
    }

    private static func refuse(_ options: [OptionSpec], of word: String, _ arguments: Arguments) throws(CommandFailure)
    {
        if let option = options.first(where: arguments.has) { throw .usage("\(word) takes no \(option.text)") }
    }

    private static func objection(toAge text: String) -> String {
        let hint = Suggestion.hint(for: text, among: ages)
        let reason = hint.isEmpty ? DurationText.objection(to: text) ?? "'\(text)' is not an age" : nil
        return "--after: " + (reason ?? "'\(text)' is not an age" + hint)
    }
}
