import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

extension OptionSpec {
    fileprivate static let bytes = OptionSpec("bytes", .size, "purge this much, in the system's order")
    fileprivate static let tier = OptionSpec(
        "tier", .choice("TIER", ["tmp", "caches", "purgeable"], others: ["temporary"]),
        "purge everything in tmp, in caches (Library/Caches), or marked purgeable elsewhere (purgeable)")
    fileprivate static let all = OptionSpec("all", "purge everything that may be purged")
    fileprivate static let path = OptionSpec(
        "path", .text("GLOB"), addsUp: true,
        "purge the files and folders that match GLOB, relative to TARGET; * matches / too. May be repeated, up to 100 "
            + "times")
}

extension OptionSpec {
    static let evenOpen = OptionSpec(
        "even-open",
        "with PATH, --path or --tier: purge open and mapped files too. Their names go; their space is free once they are "
            + "closed")
}

extension Verb {
    static let purge = Verb(
        name: "purge", summary: "purge files as the system would",
        synopsis: "([TARGET] (--bytes SIZE|--tier TIER|--all|--path GLOB)|PATH...) [--even-open] [--dry-run] "
            + "[--json]",
        description: [
            "Purges files, and lists them in purge order, with the reason for each.",
            "PATH and --path name files to purge now; a folder stands for all files below it, and stays. A file that may "
                + "not be purged is reported with the reason: it is in a persistent place without a mark, it is "
                + "hard-linked, or it is open; the message names the processes that use it. All others are still "
                + "purged.",
            "--bytes, --tier and --all purge by the system's rules; open and hard-linked files are skipped. --bytes "
                + "and --all begin with others.purgeable, the purgeable space of the system and other apps. With a "
                + "TARGET below the mount point, only files below TARGET are purged.",
        ],
        options: [
            OptionSpec.bytes, OptionSpec.tier, OptionSpec.all, OptionSpec.path, OptionSpec.evenOpen,
            OptionSpec("dry-run", "list the files that would be purged, and purge nothing"),
            OptionSpec("json", "print one JSON object per line: path, reason, bytes; or path, refused, users"),
        ],
        operands: 0...(.max), takesAnyBytes: true,
        exitStatus: [
            ExitStatus.line(ExitStatus.done),
            ExitStatus.line(
                ExitStatus.failed,
                "failed, or a named file was not purged, or less was freed (with --dry-run: would be freed) than "
                    + "--bytes requested"),
            ExitStatus.line(ExitStatus.usage),
        ],
        examples: [
            "purgefs purge ./app --bytes 1M --dry-run", "purgefs purge ./app --tier caches",
            "purgefs purge ./app/tmp/f --even-open",
        ]
    ) { (invocation) throws(CommandFailure) in
        let chosen = [OptionSpec.bytes, .tier, .all, .path].filter(invocation.arguments.has)
        guard chosen.count <= 1 else {
            throw .usage("\(chosen[0].text) and \(chosen[1].text) exclude each other")
        }
        if let amount = [OptionSpec.bytes, .all].first(where: chosen.contains), invocation.arguments.has(.evenOpen) {
            throw .usage("--even-open is for PATH, --path or --tier, not \(amount.text): open files free no space yet")
        }
        return chosen.isEmpty ? try PurgeVerb.purgePaths(invocation) : try PurgeVerb.purgeTarget(invocation)
    }
}

private enum PurgeVerb {
    /// Purges exactly the named operands. An operand that is not in a container does not stop the others from being purged, but
    /// a whole container is wrong usage.
    static func purgePaths(_ invocation: Invocation) throws(CommandFailure) -> Int32 {
        guard !invocation.rawOperands.isEmpty else {
            throw .usage("nothing to purge: name a PATH, or use --bytes, --tier, --all or --path")
        }
        var places: [PathInContainer] = []
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
                "the paths are in different containers, \(target.place) and \(other.place): purge one at a time")
        }
        let requests = PurgeRequest.requests(for: places.map(\.inner))
        let result = try PurgeRun(invocation, requests).run(on: target)
        return max(status, result)
    }

    private static func named(_ raw: RawText) throws(CommandFailure) -> PathInContainer {
        let place = try PathInContainer(raw, for: "cannot purge")
        guard !place.inner.isEmpty else {
            throw .usage(
                "\(VisibleText.of(Places.text(raw))) is a container, not a file in one: PATH is relative to the "
                    + "working directory. To purge by rule, use --all, --tier TIER or --bytes SIZE")
        }
        return place
    }

    /// Purges the files that an option describes, in a container or in a part of it.
    static func purgeTarget(_ invocation: Invocation) throws(CommandFailure) -> Int32 {
        let arguments = invocation.arguments
        guard arguments.operands.count <= 1 else {
            throw .usage(
                "unexpected operand '\(arguments.operands[1])': --bytes, --tier, --all and --path take one TARGET; "
                    + "leave them out to purge a PATH")
        }
        let place = try Target.part(named: invocation.rawOperands.first)
        let globs = arguments.texts(.path)
        guard globs.isEmpty else {
            guard !globs.contains("") else { throw .usage("--path: the pattern is empty") }
            guard globs.count <= PurgeRequest.mostGlobs else {
                throw .usage("--path may be given \(PurgeRequest.mostGlobs) times at most, not \(globs.count) times")
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
