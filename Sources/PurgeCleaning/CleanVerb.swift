import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

extension OptionSpec {
    fileprivate static let plist = OptionSpec(
        "plist", .file, "the list of tasks, a property list in XML or binary, as PurgeableCache.plist has them")
    fileprivate static let hook = OptionSpec(
        "hook", .text("NAME=COMMAND"), addsUp: true,
        "the shell runs COMMAND for the class method NAME, Class.selector, or for all of a Class. May be repeated")
    fileprivate static let hookTimeout = OptionSpec(
        "hook-timeout", .text("DURATION"), "how long a COMMAND may take, 30s if this is left out")
}

extension Verb {
    package static let clean = Verb(
        name: "clean", summary: "clean a container as the app's list of tasks says",
        synopsis: "--plist FILE [TARGET] [--hook NAME=COMMAND] [--hook-timeout DURATION] [--dry-run] [--json]",
        description: [
            "Carries out the tasks of a PurgeableCache.plist in their order, as the cache cleaner of mPaaS does. A task "
                + "has a Path in the container, which goes, or Entries of it, patterns in which * stands for any part "
                + "of a name; or it has a Class and Selectors, for which commands are run.",
            "What goes is removed as the app would remove it, open files too. A path that is absolute, has '..' in it "
                + "or leads through a symbolic link is refused. Folders that every container has are emptied, and stay.",
            "A COMMAND has the environment of `purgefs run`, with PURGEFS_CLEAN_CLASS and PURGEFS_CLEAN_SELECTOR; its "
                + "output goes to standard error. One that takes too long is killed, with all that it has started.",
            "The phases are preCalculating, cleaning, postCalculating and done, which says how many MiB were removed: "
                + "the sizes of the container before and afterwards. A task that fails does not stop the others.",
            HelpText.targetMeaning,
        ],
        options: [
            OptionSpec.plist, OptionSpec.hook, OptionSpec.hookTimeout,
            OptionSpec("dry-run", "print what would be removed and which commands run, and do nothing"),
            OptionSpec("json", "print one JSON object per line: phase, progress; task, path, files, bytes"),
        ],
        operands: 0...1,
        exitStatus: [
            ExitStatus.line(ExitStatus.done),
            ExitStatus.line(ExitStatus.failed, "failed, or a task has failed; the message says which, and why"),
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
