import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

extension OptionSpec {
    fileprivate static let plist = OptionSpec(
        "plist", .file, "the list of tasks: a property list in XML or binary form, such as PurgeableCache.plist")
    fileprivate static let hook = OptionSpec(
        "hook", .text("NAME=COMMAND"), addsUp: true,
        "run COMMAND in the shell for the class method NAME (Class.selector), or for all methods of a Class. May be "
            + "repeated")
    fileprivate static let hookTimeout = OptionSpec(
        "hook-timeout", .text("DURATION"), "time limit of each COMMAND (30s)")
}

extension Verb {
    package static let clean = Verb(
        name: "clean", summary: "clean a container by the app's list of tasks",
        synopsis: "--plist FILE [TARGET] [--hook NAME=COMMAND] [--hook-timeout DURATION] [--dry-run] [--json]",
        description: [
            "Carries out the tasks of a PurgeableCache.plist in order, as the cache cleaner of mPaaS does. A task "
                + "removes a Path in the container, or only its Entries (patterns, in which * matches any part of a "
                + "name), or runs commands for the Selectors of a Class. Then it empties the directories whose policy has "
                + "the age manual (purgefs policy).",
            "Files are removed as the app would remove them, open files included. A path that is absolute, contains "
                + "'..' or leads through a symbolic link is refused. Standard folders are emptied, and stay.",
            "A COMMAND gets the environment of `purgefs run`, plus PURGEFS_CLEAN_CLASS and PURGEFS_CLEAN_SELECTOR; "
                + "its output goes to standard error. At the time limit it is killed, with all processes that it "
                + "started.",
            "The phases are preCalculating, cleaning, postCalculating and done. The last one prints the removed MiB: "
                + "the size of the container before, less its size afterwards. A failed task does not stop the others.",
        ],
        options: [
            OptionSpec.plist, OptionSpec.hook, OptionSpec.hookTimeout,
            OptionSpec("dry-run", "print the files and commands, but remove and run nothing"),
            OptionSpec("json", "print one JSON object per line: phase, progress; task, path, files, bytes"),
        ],
        operands: 0...1,
        exitStatus: [
            ExitStatus.line(ExitStatus.done),
            ExitStatus.line(ExitStatus.failed, "failed, or a task failed; the message says which, and why"),
            ExitStatus.line(ExitStatus.usage),
            ExitStatus.signalLine("signal N ended it: 130 after Ctrl-C"),
        ],
        examples: ["purgefs clean ./app --plist PurgeableCache.plist --hook 'Cache=rm ~/tmp/f'"]
    ) { (invocation) throws(CommandFailure) in
        let arguments = invocation.arguments
        guard let file = arguments.text(.plist) else { throw .usage("--plist FILE is missing") }
        let hooks = try CleaningHooks(arguments.texts(.hook), limit: try CleanVerb.limit(arguments))
        let list = try CleaningList(file: file)
        let container = CleanedContainer(
            target: try Target(arguments.operands.first), isForReading: arguments.has(.dryRun),
            console: invocation.console)
        let report = CleaningReport(invocation.console, asJSON: arguments.has(.json))
        return try CleaningRun(list.tasks, hooks, container, report).run()
    }
}

private enum CleanVerb {
    private static let usual = TimeSpan(seconds: 30)

    static func limit(_ arguments: Arguments) throws(CommandFailure) -> TimeSpan {
        guard let text = arguments.text(.hookTimeout) else { return usual }
        guard let limit = TimeSpan(text: text), limit.seconds > 0 else {
            throw .usage("--hook-timeout: '\(text)' is not a duration of at least a second (30s, 5m)")
        }
        return limit
    }
}
