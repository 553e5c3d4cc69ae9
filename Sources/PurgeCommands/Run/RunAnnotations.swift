import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeSystem

extension OptionSpec {
    static let annotate = OptionSpec(
        "annotate", .choice("WHEN", ["auto", "github", "off"]),
        "print the result as annotations of GitHub Actions on standard error, and append it to the step's summary: "
            + "auto (if GITHUB_ACTIONS is set, unless --quiet), github, off")
}

/// Annotations of GitHub Actions, which show the result of a run in the list of checks and on the page of the job.
struct RunAnnotations {
    private static let what = "summary of the step"
    private let stepSummary: String?
    private let isQuiet: Bool

    /// Returns nil if no annotations are wanted.
    init?(_ arguments: Arguments) {
        switch arguments.text(.annotate) {
        case "github": break
        case "off": return nil
        default:
            guard Self.variable("GITHUB_ACTIONS") != nil, !arguments.has(.quiet) else { return nil }
        }
        stepSummary = Self.variable("GITHUB_STEP_SUMMARY")
        isQuiet = arguments.has(.quiet)
    }

    /// Prints the annotations. A run that passed without a purge or a refusal gets none. `failures` are the failures of purgefs
    /// itself.
    func write(_ run: RunSummary, failures: [CommandFailure], program: String, store: String, _ console: Console) {
        let name = VisibleText.of(program)
        let isFailure = run.verdict.isFailure || !failures.isEmpty
        if isFailure || run.hasLosses {
            let level = isFailure ? "error" : "notice"
            // An annotation must begin a line, and no summary has ended the last line of COMMAND.
            if isQuiet { console.note("") }
            console.note("::\(level) title=purgefs run \(Self.property(name))::\(Self.escaped(run.text))")
        }
        for demand in run.events.demands where demand.count > 0 {
            console.note("::error title=purgefs --fail-on::\(Self.escaped(demand.finding))")
        }
        for failure in failures { console.note("::error title=purgefs run::\(Self.escaped(failure.message))") }
        guard let stepSummary else { return }
        do throws(CommandFailure) {
            try PlaceChecks(Surroundings(mounts: MountEntry.all())).check(output: stepSummary, Self.what, of: store)
            try append(run.markdown(program: name, failures: failures), to: stepSummary)
        } catch { console.warn("warning: \(error.message)") }
    }

    private func append(_ text: String, to path: String) throws(CommandFailure) {
        do throws(Errno) {
            // A FIFO without a reader must not block the end of the run.
            let file = try FileDescriptor.openOutput(path, O_APPEND | O_NONBLOCK)
            guard try System.status(file.raw).isRegularFile else { throw .invalid }
            try file.writeAll(Array(text.utf8))
        } catch { throw CommandFailure("cannot write the \(Self.what)", output: path, error) }
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Escapes the text of an annotation. A line break would end it.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "%": result += "%25"
            case "\r": result += "%0D"
            case "\n": result += "%0A"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    /// Escapes a property of an annotation, which a colon or comma would end.
    private static func property(_ text: String) -> String {
        escaped(text).split(separator: ":", omittingEmptySubsequences: false).joined(separator: "%3A")
            .split(separator: ",", omittingEmptySubsequences: false).joined(separator: "%2C")
    }
}

extension RunSummary {
    /// Whether the app lost files or had writes refused.
    var hasLosses: Bool { events.purgedFiles > 0 || refused > 0 }

    /// The summary as a section of Markdown.
    func markdown(program: String, failures: [CommandFailure]) -> String {
        var lines = [
            "### purgefs run \(Self.literal(program))", "", "\(verdict.text).", "", "| | |", "|---|---|",
            "| purged | \(purgedText) |", "| refused | \(refusedText) |",
        ]
        if let storage = after?.storage { lines.append("| storage | \(space(storage)) |") }
        for demand in events.demands where demand.count > 0 {
            lines.append("| --fail-on | \(Self.literal(demand.finding)) |")
        }
        for failure in failures { lines.append("| failed | \(Self.literal(failure.message)) |") }
        return lines.joined(separator: "\n") + "\n\n"
    }

    /// Escapes the text so that Markdown shows it unchanged: character references never form structure.
    private static func literal(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            "\\`*_{}[]<>()#|~&!:@\r\n".unicodeScalars.contains(scalar) ? "&#\(scalar.value);" : String(scalar)
        }.joined()
    }
}
