import PurgeCommandLine
import PurgeModel
import PurgeReport
import PurgeStore
import PurgeSystem

/// The results of a sweep, for people and for programs.
struct SweepText {
    let results: [SweepResult]
    /// How many calls COMMAND makes without a fault.
    let calls: Int
    let common: SweepProcess.Common

    private struct Place: Hashable {
        let kind: MomentKind
        let path: String
    }

    private func count(_ word: String) -> Int { results.count { $0.outcome.word == word } }

    var failures: Int { count("failed") }
    var broken: [SweepResult] { results.filter { $0.outcome.word == "broken" } }

    /// One line about all trials.
    var summary: String {
        var parts = ["\(count("held")) held", "\(failures) failed"]
        let others = results.count { $0.tookAnotherCourse }
        if count("notReached") > 0 { parts.append("\(count("notReached")) not reached") }
        if others > 0 { parts.append("\(others) on another course") }
        if !broken.isEmpty { parts.append("\(broken.count) not carried out") }
        return
            "\(calls) \(calls == 1 ? "call" : "calls"), \(results.count) \(results.count == 1 ? "fault" : "faults") tried: "
            + parts.joined(separator: ", ")
    }

    /// The failures by kind and path of the call, each fault with the first line that repeats it.
    var lines: [String] {
        grouped(results.filter { $0.outcome.word == "failed" }).flatMap { lines(about: $0.place, $0.results) }
    }

    /// Returns the results by kind and path of the call, in the order of their first calls.
    private func grouped(_ results: [SweepResult]) -> [(place: Place, results: [SweepResult])] {
        var places: [Place] = []
        var byPlace: [Place: [SweepResult]] = [:]
        for result in results {
            let place = Place(kind: result.trial.moment.kind, path: result.trial.moment.path)
            if byPlace[place] == nil { places.append(place) }
            byPlace[place, default: []].append(result)
        }
        return places.map { ($0, byPlace[$0] ?? []) }
    }

    private func lines(about place: Place, _ failed: [SweepResult]) -> [String] {
        var lines = ["\(place.kind.rawValue) \(VisibleText.of(place.path))"]
        for fault in SweepFault.allCases {
            let those = failed.filter { $0.trial.fault == fault }
            guard let first = those.first else { continue }
            let tried = results.count {
                $0.trial.fault == fault && $0.trial.moment.kind == place.kind && $0.trial.moment.path == place.path
            }
            let detail = first.outcome.detail ?? ""
            lines.append("  \(fault.rawValue): \(those.count) of \(tried) failed; first: \(detail)")
            if let last = first.lastLine { lines.append("    \(last)") }
            lines.append("    \(Self.command(for: first.trial, common))")
        }
        return lines
    }

    /// Returns the command line that repeats a trial.
    static func command(for trial: SweepTrial, _ common: SweepProcess.Common) -> String {
        let faults = trial.rules.flatMap { ["--fault", $0] }
        let options = ["purgefs", "run"] + common.options + faults + ["--check", common.check, "--"]
        return VisibleText.of(ShellWord.line(options + common.command.map(Places.text)))
    }
}

// For a browser.
extension SweepText {
    var page: String {
        let faults = SweepFault.allCases.filter { fault in results.contains { $0.trial.fault == fault } }
        let places = grouped(results).map { place, results in
            FaultMap.Place(
                kind: place.kind.rawValue, path: place.path,
                trials: faults.map { fault in
                    (fault.rawValue, results.filter { $0.trial.fault == fault }.map { trial($0) })
                })
        }
        return FaultMap(
            command: VisibleText.of(ShellWord.line(common.command.map(Places.text))), check: common.check,
            summary: summary, version: Version.number, faults: faults.map(\.rawValue), places: places
        ).text
    }

    private func trial(_ result: SweepResult) -> FaultMap.Trial {
        let outcome: FaultMap.Trial.Outcome =
            switch result.outcome {
            case .held: .held
            case .notReached: .notReached
            case .failed: .failed
            case .broken: .broken
            }
        let needsCommand = outcome == .failed || outcome == .broken
        return FaultMap.Trial(
            outcome, rule: result.trial.text, detail: result.outcome.detail, output: result.lastLine,
            command: needsCommand ? Self.command(for: result.trial, common) : nil)
    }
}

// For programs.
extension SweepText {
    private struct Document: Encodable {
        struct Trial: Encodable {
            var call: String
            var number: Int64
            var path: String
            var process: String?
            var fault, rule, outcome: String
            var detail, output: String?
            var otherCourse: Bool?
            var command: String?
        }
        var version = 1
        var calls, tried, held, failed, notReached: Int
        var trials: [Trial]
    }

    var json: String {
        JSONText.encode(
            Document(
                calls: calls, tried: results.count, held: count("held"), failed: failures,
                notReached: count("notReached"), trials: results.map { trial($0) }), pretty: true) + "\n"
    }

    private func trial(_ result: SweepResult) -> Document.Trial {
        let (trial, moment) = (result.trial, result.trial.moment)
        return .init(
            call: moment.kind.rawValue, number: moment.number, path: moment.path, process: moment.process,
            fault: trial.fault.rawValue, rule: trial.text, outcome: result.outcome.word,
            detail: result.outcome.detail, output: result.lastLine,
            otherCourse: result.tookAnotherCourse ? true : nil,
            command: result.outcome.word == "failed" ? Self.command(for: trial, common) : nil)
    }

    /// The form of JUnit: a test case for each trial.
    var junit: String {
        var text = #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n"
        text += #"<testsuite name="purgefs sweep" tests="\#(results.count)" failures="\#(failures)" "#
        text += #"errors="\#(broken.count)" skipped="\#(count("notReached"))">"# + "\n"
        for result in results {
            let moment = result.trial.moment
            let name = Self.escaped("\(result.trial.text) \(VisibleText.of(moment.path))")
            text += #"  <testcase classname="\#(moment.kind.rawValue)" name="\#(name)""#
            switch result.outcome {
            case .held: text += "/>\n"
            case .notReached: text += "><skipped/></testcase>\n"
            case .failed(let detail), .broken(let detail):
                let element = result.outcome.word == "failed" ? "failure" : "error"
                let command = Self.command(for: result.trial, common)
                text += "><\(element) message=\"\(Self.escaped(detail))\">"
                text += Self.escaped([result.lastLine, command].compactMap(\.self).joined(separator: "\n"))
                text += "</\(element)></testcase>\n"
            }
        }
        return text + "</testsuite>\n"
    }

    private static func escaped(_ text: String) -> String {
        // Not by characters: a combining mark would make one of a sign.
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\u{FFFE}", "\u{FFFF}": ""  // XML does not allow them
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            default: String(scalar)
            }
        }.joined()
    }
}
