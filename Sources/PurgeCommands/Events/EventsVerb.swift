import PurgeCommandLine
import PurgeContainers
import PurgeModel

extension OptionSpec {
    fileprivate static let follow = OptionSpec("follow", "then print new events as they happen, until the unmount")
    fileprivate static let path = OptionSpec(
        "path", .text("GLOB"),
        "only events whose old or new path matches GLOB, relative to the container or absolute; * matches / too")
    fileprivate static let type = OptionSpec(
        "type", .list("TYPE", EventType.allCases.map(\.rawValue)), addsUp: true,
        "only events of this type; may be repeated")
    fileprivate static let since = OptionSpec(
        "since", .text("TIME"),
        "only events from TIME on, by the device's clock: 2026-11-21, 2026-11-21T09:30Z (UTC unless it has an "
            + "offset), or a duration before now, such as 10m")
    fileprivate static let tail = OptionSpec(
        "tail", .number("N"), "only the newest N events that the other options select, oldest first")
    fileprivate static let all = OptionSpec(
        "all", "also the app's own changes of names: \(ofApp.joined(separator: ", "))")
    fileprivate static let summary = OptionSpec(
        "summary",
        "print totals by directory (at most three levels deep), by reason and by process; with --json as one object")

    private static var ofApp: [String] { EventType.allCases.filter(\.isOfApp).map(\.rawValue) }
}

extension Verb {
    static let events = Verb(
        name: "events", summary: "show the events of a container",
        synopsis: "[TARGET] [--since TIME] [--type TYPE|--all] [--path GLOB] [--tail N] [--follow|--summary] [--json]",
        description: [
            "Prints the journal of a container, oldest event first. Each line has the time, the type, the bytes, the "
                + "path, the reason and the trigger, and the process. On a terminal, long lines are wrapped."
        ],
        options: [
            OptionSpec.since, OptionSpec.type, OptionSpec.all, OptionSpec.path, OptionSpec.tail, OptionSpec.follow,
            OptionSpec.summary, OptionSpec("json", "print one JSON object per line"),
        ],
        operands: 0...1,
        sections: [
            HelpSection(
                title: "TYPES",
                lines: [.init("", EventType.allCases.map(\.rawValue).joined(separator: " "))])
        ],
        exitStatus: ExitStatus.plain,
        examples: [
            "purgefs events ./app --type purge --path 'Library/Caches/*'", "purgefs events ./app --since 10m --summary",
        ]
    ) { (invocation) throws(CommandFailure) in
        let run = try EventsRun(invocation)
        try run.run(on: try Target(invocation.arguments.operands.first))
        return ExitStatus.done
    }
}

extension EventsRun {
    fileprivate init(_ invocation: Invocation) throws(CommandFailure) {
        let arguments = invocation.arguments
        self.init(
            console: invocation.console, asJSON: arguments.has(.json), follows: arguments.has(.follow),
            isSummary: arguments.has(.summary), tail: arguments.text(.tail).flatMap { Int($0) })
        let types = try Self.types(arguments.texts(.type))
        guard types.isEmpty || !arguments.has(.all) else {
            throw .usage(
                "--all and --type exclude each other: to see the app's own changes, name their types with "
                    + "--type")
        }
        guard !isSummary || !follows else {
            throw .usage("--summary and --follow exclude each other: a summary covers past events only")
        }
        if arguments.has(.all) { filter.types = [] }
        if !types.isEmpty { filter.types = types }
        filter.glob = arguments.text(.path)
        if let text = arguments.text(.since) {
            guard let since = Since(text: text) else { throw .usage("--since: " + Since.objection(to: text)) }
            self.since = since
        }
    }
    private static func types(_ texts: [String]) throws(CommandFailure) -> Set<EventType> {
        var types: Set<EventType> = []
        for word in texts.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
            guard let type = EventType(rawValue: String(word)) else {
                throw .usage(
                    "--type: " + OptionSpec.objection(to: String(word), among: EventType.allCases.map(\.rawValue)))
            }
            types.insert(type)
        }
        return types
    }
}
