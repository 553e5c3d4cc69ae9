import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

/// One `purgefs purge`: it sends the requests to the container, and prints the answers as text or JSON.
struct PurgeRun {
    private let console: Console
    private let asJSON: Bool
    private let isDryRun: Bool
    private let takesOpen: Bool
    /// The number of bytes to free; nil without `--bytes`.
    private let wanted: ByteCount?
    private let requests: [PurgeRequest]
    /// Patterns relative to `part`, or absolute below it. Unless empty, they are used instead of `requests`.
    private let globs: [String]
    private let part: String

    init(_ invocation: Invocation, _ requests: [PurgeRequest], wanted: ByteCount? = nil) {
        self.init(invocation, requests, wanted: wanted, globs: [], part: "")
    }

    init(_ invocation: Invocation, globs: [String], below part: String) {
        self.init(invocation, [], wanted: nil, globs: globs, part: part)
    }

    private init(
        _ invocation: Invocation, _ requests: [PurgeRequest], wanted: ByteCount?, globs: [String], part: String
    ) {
        console = invocation.console
        asJSON = invocation.arguments.has(.json)
        isDryRun = invocation.arguments.has(.dryRun)
        takesOpen = invocation.arguments.has(.evenOpen)
        (self.wanted, self.requests, self.globs, self.part) = (wanted, requests, globs, part)
    }

    /// Purges, and returns the exit status.
    func run(on target: Target) throws(CommandFailure) -> Int32 {
        try target.with(forReading: isDryRun, warnings: isDryRun ? console : nil) { (control) throws(CommandFailure) in
            var lines: [PlanLine] = []
            var isShort = false
            let requests = globs.isEmpty ? requests : [.globs(try patterns(control))]
            for request in requests {
                let answer = try ask(request, control)
                lines += answer.lines
                isShort = isShort || answer.isShort
            }
            return try show(lines, isShort: isShort, control)
        }
    }

    /// The name, for messages, of the folder to which the patterns are relative.
    private var whole: String { part.isEmpty ? "the container" : "TARGET" }

    private func patterns(_ control: any ControlEndpoint) throws(CommandFailure) -> [[UInt8]] {
        let below = part.isEmpty ? "" : "/" + part
        let roots = try ContainerGlob.roots(control).map { $0 + below }
        var patterns: [[UInt8]] = []
        for glob in globs {
            guard let relative = ContainerGlob.relative(glob, roots: roots) else {
                throw CommandFailure(
                    "cannot purge", path: glob, "it is outside of \(whole)",
                    advice: "Write it relative to \(whole), or below \(roots[0]).")
            }
            patterns.append(Array((part.isEmpty ? relative : Glob.literal(part) + "/" + relative).utf8))
        }
        return patterns
    }

    private func ask(
        _ request: PurgeRequest, _ control: any ControlEndpoint
    ) throws(CommandFailure) -> (lines: [PlanLine], isShort: Bool) {
        let answer: ControlAnswer
        do throws(Errno) {
            let sent = takesOpen ? .evenOpen(request) : request
            answer = try control.exchange(sent.bytes, with: isDryRun ? .storagePlan : .storageReclaim)
        } catch { throw failure(error, request, control) }
        do {
            let lines = try answer.text.split(separator: "\n").map {
                try JSONText.decode(PlanLine.self, from: String($0))
            }
            return (lines, answer.isShort)
        } catch {
            throw CommandFailure(
                "cannot understand the answer", path: control.place, "its format is unknown to this version of purgefs",
                advice: "Use the purgefs that mounted it (`purgefs --version`).")
        }
    }

    private func failure(_ error: Errno, _ request: PurgeRequest, _ control: any ControlEndpoint) -> CommandFailure {
        switch (request, error) {
        case (.globs, .noEntry):
            CommandFailure(
                isDryRun ? "nothing would be purged" : "nothing was purged", path: control.place,
                "no file or folder matches " + Self.list(globs),
                advice: "The pattern must match the whole path, relative to \(whole): '*/NAME' finds a name anywhere."
                    + (globs.contains(where: Glob.isPattern)
                        ? " Quote it, so that the shell does not expand it." : ""))
        default:
            CommandFailure(isDryRun ? "cannot plan a purge" : "cannot purge", path: control.place, error)
        }
    }
}

extension PurgeRun {
    private static let shown = 20

    private static func list(_ globs: [String]) -> String {
        let some = globs.prefix(3).map { "'\(VisibleText.of($0))'" }
        return (some + (globs.count > 3 ? ["\(globs.count - 3) more"] : [])).joined(separator: " or ")
    }

    private func show(
        _ lines: [PlanLine], isShort: Bool, _ control: any ControlEndpoint
    ) throws(CommandFailure) -> Int32 {
        let purged = lines.filter { $0.refused == nil }
        let refused = try named(lines.filter { $0.refused != nil }, control)
        if asJSON {
            for item in purged { try console.print(JSONText.encode(item)) }
            for item in refused { try console.print(JSONText.encode(item)) }
        } else {
            let remark = lines.isEmpty && (isNamed || isDryRun) ? emptiness : ""
            let table = PurgeTable(items: purged, isDryRun: isDryRun, remark: remark)
            for line in table.lines { try console.print(line) }
        }
        try console.flush()
        tell(refused, control)
        let freed = purged.reduce(ByteCount.zero) { $0 + ($1.bytes ?? .zero) }
        if let wanted, isDryRun ? freed < wanted : isShort {
            throw CommandFailure(
                isDryRun ? "less would be freed than requested" : "less was freed than requested", path: control.place,
                "\(freed.inWords) of \(wanted.inWords)",
                advice: "Open and hard-linked files, and unmarked files in a persistent place, are never purged.")
        }
        return refused.isEmpty ? ExitStatus.done : ExitStatus.failed
    }

    /// The reason why nothing was purged or, in a dry run, would be purged.
    private var emptiness: String {
        if wanted == .zero { return "0 B were asked for" }
        return isNamed
            ? "the named paths have no files to purge; folders stay"
            : "nothing here is purgeable now: open and hard-linked files, and unmarked persistent files, are skipped"
    }

    private var isNamed: Bool {
        if case .paths = requests.first { true } else { !globs.isEmpty }
    }

    /// Returns the refused files. Each open file comes with the processes that use it.
    private func named(_ lines: [PlanLine], _ control: any ControlEndpoint) throws(CommandFailure) -> [RefusedFile] {
        let open = lines.filter { $0.refused == .open }.compactMap(\.path)
        let root = control.place
        let users = open.isEmpty ? [:] : ProcessTable.users(ofFiles: Set(open.map { Array("\(root)/\($0)".utf8) }))
        return lines.compactMap { line in
            guard let path = line.path, let cause = line.refused else { return nil }
            let found = users[Array("\(root)/\(path)".utf8)] ?? []
            return RefusedFile(
                path: path, refused: cause, users: cause == .open ? found : nil, tombstone: line.tombstone)
        }
    }

    /// Reports on standard error which files were refused and why. Each piece of advice appears once, after the files.
    private func tell(_ refused: [RefusedFile], _ control: any ControlEndpoint) {
        let root = control.isMounted ? control.place : control.place + "/container"
        var advice: [String] = []
        for file in refused.prefix(Self.shown) {
            let users = file.users ?? []
            console.warn(
                CommandFailure(
                    "cannot purge", path: "\(root)/\(file.path)",
                    RefusalText.reason(file.refused, users: users, leavesTombstone: file.tombstone == true), advice: ""
                ).message)
            let next = RefusalText.advice(file.refused, users: users, isRoot: geteuid() == 0)
            if !advice.contains(next) { advice.append(next) }
        }
        if refused.count > Self.shown {
            console.warn("cannot purge \(refused.count - Self.shown) more: --json lists them all")
        }
        for line in advice { console.note("  \(line)") }
    }
}

/// A file that the command named but could not purge.
private struct RefusedFile: Encodable {
    var path: String
    var refused: PurgeRefusal
    /// The processes that use an open file; nil for any other.
    var users: [FileUser]?
    /// True for a file that could not be emptied.
    var tombstone: Bool?
}
