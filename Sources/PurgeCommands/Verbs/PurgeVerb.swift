import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

extension OptionSpec {
    fileprivate static let bytes = OptionSpec("bytes", .size, "so much, in the order in which the system would purge")
    fileprivate static let tier = OptionSpec(
        "tier", .choice("TIER", ["tmp", "caches", "purgeable"], others: ["temporary"]),
        "all in tmp, all in Library/Caches, or all that is marked purgeable elsewhere")
    fileprivate static let all = OptionSpec("all", "everything that may be purged")
    fileprivate static let path = OptionSpec(
        "path", .text("GLOB"),
        "exactly what is like GLOB, relative to TARGET; * takes a / too. May come up to 100 times")
}

extension Verb {
    static let purge = Verb(
        name: "purge", summary: "purge files as the system would",
        synopsis: "([TARGET] (--bytes SIZE|--tier TIER|--all|--path GLOB)|PATH...) [--dry-run] [--json]",
        description: [
            "Purges, and prints what went and why, in the order in which it went.",
            "PATH and --path name files, and folders for all that is below them: exactly those go, now. What may not "
                + "be purged is named with the cause: it lies in a persistent place without a mark, has several names, "
                + "or is open, and then by whom. The others go all the same. Folders stay.",
            "--bytes, --tier and --all purge by the system's rules; what is open or has several names is passed over. "
                + "--bytes and --all begin with the purgeable part of the space that others use. With a TARGET below "
                + "the mount point nothing goes but what lies there.",
            HelpText.targetMeaning,
        ],
        options: [
            OptionSpec.bytes, OptionSpec.tier, OptionSpec.all, OptionSpec.path,
            OptionSpec("dry-run", "print what would go, and purge nothing"),
            OptionSpec("json", "print one JSON object a line: path, reason, bytes; or path, refused, users"),
        ],
        operands: 0...(.max), takesAnyBytes: true,
        exitStatus: [
            .init("0", "done"),
            .init(
                "1",
                "failed, or something that was named did not go, or less came back than --bytes asked for (with "
                    + "--dry-run: would)"),
            .init("64", "wrong usage"),
        ],
        examples: [
            "purgefs purge ./app --bytes 1M --dry-run", "purgefs purge ./app --tier caches",
            "purgefs purge ./app/tmp/f",
        ]
    ) { (invocation) throws(CommandFailure) in
        let chosen = [OptionSpec.bytes, .tier, .all, .path].filter(invocation.arguments.has)
        guard chosen.count <= 1 else {
            throw .usage("\(chosen[0].text) and \(chosen[1].text) exclude each other")
        }
        return chosen.isEmpty ? try PurgeVerb.purgePaths(invocation) : try PurgeVerb.purgeTarget(invocation)
    }
}

private enum PurgeVerb {
    /// Exactly what the operands name; one that is wrong does not keep the others.
    static func purgePaths(_ invocation: Invocation) throws(CommandFailure) -> Int32 {
        guard !invocation.rawOperands.isEmpty else {
            throw .usage("what is to be purged? Name a PATH, or take --bytes, --tier, --all or --path")
        }
        var places: [ContainerPath] = []
        var status = ExitStatus.done
        for raw in invocation.rawOperands {
            do throws(CommandFailure) {
                places.append(try named(raw))
            } catch {
                guard error.status == ExitStatus.failed else { throw error }
                invocation.console.warn(error.message)
                status = ExitStatus.failed
            }
        }
        guard let target = places.first?.target else { return status }
        if let other = places.first(where: { $0.target != target })?.target {
            throw .usage(
                "the paths lie in different containers, \(target.place) and \(other.place): take one at a time")
        }
        let requests = PurgeRequest.requests(for: places.map(\.inner))
        let result = try PurgeRun(invocation, requests).run(on: target)
        return max(status, result)
    }

    private static func named(_ raw: RawText) throws(CommandFailure) -> ContainerPath {
        let place = try ContainerPath(raw, for: "cannot purge")
        guard !place.inner.isEmpty else {
            throw .usage(
                "\(VisibleText.of(Places.text(raw))) is a container, not a file in it: a PATH starts at the working "
                    + "directory; by rule, --all, --tier TIER or --bytes SIZE says what goes")
        }
        return place
    }

    /// What an option says, in a container or in a part of it.
    static func purgeTarget(_ invocation: Invocation) throws(CommandFailure) -> Int32 {
        let arguments = invocation.arguments
        guard arguments.operands.count <= 1 else {
            throw .usage(
                "unexpected operand '\(arguments.operands[1])': --bytes, --tier, --all and --path take one TARGET; "
                    + "a PATH goes without them")
        }
        let place = try Target.part(named: invocation.rawOperands.first)
        let globs = arguments.texts(.path)
        guard globs.isEmpty else {
            guard !globs.contains("") else { throw .usage("--path: the pattern is empty") }
            guard globs.count <= PurgeRequest.mostGlobs else {
                throw .usage("--path may come \(PurgeRequest.mostGlobs) times, and it came \(globs.count) times")
            }
            return try PurgeRun(invocation, globs: globs, below: place.inner).run(on: place.target)
        }
        let below = place.inner.isEmpty ? nil : Array(place.inner.utf8)
        let requests: [PurgeRequest] = [.byRule(command(arguments), below: below)]
        return try PurgeRun(invocation, requests, wanted: arguments.size(.bytes)).run(on: place.target)
    }

    private static func command(_ arguments: Arguments) -> ReclaimCommand {
        if let size = arguments.size(.bytes) { return .bytes(size) }
        switch arguments.text(.tier) {
        case nil: return .all
        case "caches": return .caches
        case "purgeable": return .purgeable
        default: return .temporary
        }
    }
}
