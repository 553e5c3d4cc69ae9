import PurgeModel
import PurgeStore
import PurgeSystem

extension OptionSpec {
    fileprivate static let bytes = OptionSpec("bytes", .size, "so much, in the order in which the system would purge")
    fileprivate static let tier = OptionSpec(
        "tier", .choice("TIER", ["tmp", "caches", "purgeable"], others: ["temporary"]),
        "all in tmp, all in Library/Caches, or all that is marked purgeable elsewhere")
    fileprivate static let all = OptionSpec("all", "everything that may be purged")
}

extension Verb {
    static let purge = Verb(
        name: "purge", summary: "purge files as the system would",
        synopsis: "[TARGET] (--bytes SIZE|--tier TIER|--all) [--dry-run] [--json]",
        description: [
            "Purges, and prints what went and why, in the order in which it went. Files that are open or have several "
                + "names are passed over. --bytes and --all begin with the purgeable part of the space that others use.",
            HelpText.targetMeaning,
        ],
        options: [
            OptionSpec.bytes, OptionSpec.tier, OptionSpec.all,
            OptionSpec("dry-run", "print what would go, and purge nothing"),
            OptionSpec("json", "print one JSON object a line: path, reason, bytes"),
        ],
        operands: 0...1,
        exitStatus: [
            .init("0", "done"),
            .init("1", "failed, or less came back than --bytes asked for (with --dry-run: would come back)"),
            .init("64", "wrong usage"),
        ],
        examples: ["purgefs purge ./app --bytes 1M --dry-run", "purgefs purge ./app --tier caches"]
    ) { (invocation) throws(CommandFailure) in
        let verb = try PurgeVerb(invocation)
        try Target.with(invocation.arguments.operands.first, forReading: verb.isDryRun ? verb.console : nil) {
            (control) throws(CommandFailure) in
            try verb.run(on: control)
        }
        return ExitStatus.done
    }
}

/// What went, or would go: a file, or bytes of others.
private struct PurgedItem: Codable {
    var path: String?
    var reason: String
    var bytes: ByteCount
}

private struct PurgeVerb {
    let console: Console
    let asJSON: Bool
    let isDryRun: Bool
    /// As storage.reclaim takes it.
    let command: String
    let wanted: ByteCount?

    init(_ invocation: Invocation) throws(CommandFailure) {
        let arguments = invocation.arguments
        console = invocation.console
        asJSON = arguments.has(.json)
        isDryRun = arguments.has(.dryRun)
        wanted = arguments.size(.bytes)
        guard [OptionSpec.bytes, .tier, .all].filter(arguments.has).count == 1 else {
            throw .usage("one of --bytes, --tier and --all is needed, and only one")
        }
        let tier = arguments.text(.tier).map { $0 == "temporary" ? "tmp" : $0 }
        command = wanted.map { String($0.bytes) } ?? tier ?? "all"
    }

    func run(on control: any ControlEndpoint) throws(CommandFailure) {
        if isDryRun {
            let items = try plan(control)
            try show(items)
            try checkEnough(items.reduce(.zero) { $0 + $1.bytes } >= wanted ?? .zero, items, control)
        } else {
            let store = try control.status().store
            try control.flushJournal()
            let before = try History(store: store).lastSequence()
            let wasEnough = try reclaim(control)
            let items = try History(store: store).events(after: before, EventFilter(types: [.purge])).filter {
                $0.trigger == .command
            }.map { PurgedItem(path: $0.path, reason: $0.reason ?? "", bytes: $0.bytes ?? .zero) }
            try show(items)
            try checkEnough(wasEnough, items, control)
        }
    }

    private func plan(_ control: any ControlEndpoint) throws(CommandFailure) -> [PurgedItem] {
        let text: String
        do throws(Errno) {
            text = try control.exchange(command, with: "storage.plan")
        } catch { throw CommandFailure("cannot plan a purge", path: control.place, error) }
        do {
            return try text.split(separator: "\n").map { try JSONText.decode(PurgedItem.self, from: String($0)) }
        } catch {
            throw CommandFailure(
                "cannot understand storage.plan", path: control.place, "it is not what this version of purgefs writes",
                advice: "Use the purgefs that mounted it (`purgefs --version`).")
        }
    }

    /// Whether as much came back as was asked for.
    private func reclaim(_ control: any ControlEndpoint) throws(CommandFailure) -> Bool {
        do throws(Errno) {
            try control.write(command, to: "storage.reclaim")
            return true
        } catch .tryAgain {
            return false
        } catch { throw CommandFailure("cannot purge", path: control.place, error) }
    }

    private func show(_ items: [PurgedItem]) throws(CommandFailure) {
        if asJSON {
            for item in items { try console.print(JSONText.encode(item)) }
            return
        }
        for item in items {
            let place = item.path.map(VisibleText.of) ?? "(the system and other apps)"
            try console.print(
                HelpText.padded(item.reason, 10) + StatusText.aligned(item.bytes.inWords, 12) + "  " + place)
        }
        let files = items.count { $0.path != nil }
        try console.print(
            "\(isDryRun ? "would purge" : "purged") \(files) \(files == 1 ? "file" : "files"), \(Self.sum(items).inWords)"
        )
    }

    private func checkEnough(
        _ isEnough: Bool, _ items: [PurgedItem], _ control: any ControlEndpoint
    ) throws(CommandFailure) {
        guard !isEnough, let wanted else { return }
        throw CommandFailure(
            isDryRun ? "less would come back than asked for" : "less came back than asked for", path: control.place,
            "\(Self.sum(items).inWords) of \(wanted.inWords)",
            advice: "What is open, has several names, or lies elsewhere without a mark is never purged.")
    }

    private static func sum(_ items: [PurgedItem]) -> ByteCount { items.reduce(.zero) { $0 + $1.bytes } }
}
