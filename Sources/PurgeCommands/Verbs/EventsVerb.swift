import PurgeModel
import PurgeStore
import PurgeSystem

extension OptionSpec {
    fileprivate static let follow = OptionSpec("follow", "go on with new events as they happen, until the unmount")
    fileprivate static let path = OptionSpec(
        "path", .text("GLOB"),
        "only events whose path matches GLOB, relative to the container or absolute below it; * matches / too")
    fileprivate static let type = OptionSpec(
        "type", .choice("TYPE", EventType.allCases.map(\.rawValue)), "only events of this type; may be repeated")
}

extension Verb {
    static let events = Verb(
        name: "events", summary: "show what has happened in a container",
        synopsis: "[TARGET] [--follow] [--json] [--path GLOB] [--type TYPE]",
        description: [
            "Prints the journal of a container, oldest event first. Each line has the time, the type, the bytes, the "
                + "tier, the reason and the trigger, the process, and the path.",
            HelpText.targetMeaning,
        ],
        options: [
            OptionSpec.follow, OptionSpec("json", "print one JSON object per line"), OptionSpec.path, OptionSpec.type,
        ],
        operands: 0...1,
        sections: [
            HelpSection(
                title: "TYPES",
                lines: [.init("", EventType.allCases.map(\.rawValue).joined(separator: " "))])
        ],
        exitStatus: ExitStatus.plain,
        examples: ["purgefs events ./app --type purge --path 'Library/Caches/*'"]
    ) { (invocation) throws(CommandFailure) in
        try EventsVerb(invocation).run(invocation.arguments)
        return ExitStatus.done
    }
}

private struct EventsVerb {
    let console: Console
    let asJSON: Bool
    let filter: EventFilter

    init(_ invocation: Invocation) {
        console = invocation.console
        asJSON = invocation.arguments.has(.json)
        filter = EventFilter(
            types: Set(invocation.arguments.texts(.type).compactMap(EventType.init(rawValue:))),
            glob: invocation.arguments.text(.path))
    }

    func run(_ arguments: Arguments) throws(CommandFailure) {
        switch try Target(arguments.operands.first) {
        case .store(let store):
            let filter = try filter.relative(to: [(Places.resolved(store) ?? store) + "/container"])
            guard !arguments.has(.follow) else {
                throw CommandFailure(
                    "cannot follow events", path: store, "the store is not mounted, so nothing happens in it",
                    advice: "Mount it, or leave out --follow.")
            }
            _ = try printHistory(of: store, filter, after: 0)
        case .mount(let path):
            let control = MountedControl(place: path)
            let store = try control.status().store
            guard Target.isStore(store) else {
                throw CommandFailure(
                    "cannot read the journal", path: store,
                    "the store was removed, moved or hidden while it is mounted at \(path)",
                    advice: "Put it back, or unmount what is left of it: purgefs unmount \(path)")
            }
            let filter = try filter.relative(to: [path, store + "/container"])
            // Opened first, so that no event is lost between the journal and the stream.
            let stream = arguments.has(.follow) ? try EventStream(control) : nil
            try control.flushJournal()
            let last = try printHistory(of: store, filter, after: 0)
            if let stream { try follow(stream, filter, store, control, after: last) }
        }
    }

    /// The sequence number up to which everything has been printed.
    private func printHistory(of store: String, _ filter: EventFilter, after sequence: Int64) throws(CommandFailure)
        -> Int64
    {
        let history = try History(store: store)
        let last = try history.lastSequence()
        var printed = sequence
        try history.visit(after: sequence, filter) { (event) throws(CommandFailure) in
            printed = event.seq
            try console.print(asJSON ? JSONText.encode(event) : EventText.line(event))
        }
        return max(printed, last)
    }

    private func follow(
        _ stream: EventStream, _ filter: EventFilter, _ store: String, _ control: MountedControl, after sequence: Int64
    ) throws(CommandFailure) {
        var last = sequence
        try console.flush()
        while let record = try stream.next() {
            switch record {
            case .event(let event, let line) where event.seq > last:
                last = event.seq
                guard filter.accepts(event) else { continue }
                try console.print(asJSON ? line : EventText.line(event))
            case .event: continue
            case .dropped:
                try control.flushJournal()
                last = try printHistory(of: store, filter, after: last)
            }
            try console.flush()
        }
    }
}

extension EventFilter {
    /// The same filter, with a pattern that is relative to the container at one of `roots`.
    fileprivate func relative(to roots: [String]) throws(CommandFailure) -> EventFilter {
        guard let glob else { return self }
        guard let relative = ContainerGlob.relative(glob, roots: roots) else {
            throw CommandFailure(
                "cannot show events", path: glob, "it is outside of the container",
                advice: "Write it relative to the container, or below \(roots[0]).")
        }
        return EventFilter(types: types, glob: relative)
    }
}
