/// The page of `purgefs sweep --report`: a map of all faults by the place in COMMAND's work, and each failure.
package struct FaultMap {
    /// One fault at one call.
    package struct Trial {
        package enum Outcome: String, CaseIterable { case held, failed, notReached, broken }

        package var outcome: Outcome
        package var rule: String
        /// Why it failed, and the last line of output.
        package var detail, output: String?
        /// The command line that repeats a failure.
        package var command: String?

        package init(
            _ outcome: Outcome, rule: String, detail: String? = nil, output: String? = nil, command: String? = nil
        ) {
            (self.outcome, self.rule, self.detail, self.output, self.command) = (outcome, rule, detail, output, command)
        }

        fileprivate var cell: HTML {
            let words = HTMLText(detail.map { "\(rule): \($0)" } ?? "\(rule): \(outcome.name)")
            return HTML(
                "span",
                ["class": "trial \(outcome.rawValue)", "role": "img", "aria-label": words, "title": words])
        }
    }

    /// The calls of one kind on one path.
    package struct Place {
        package var kind, path: String
        /// The trials of each fault.
        package var trials: [(fault: String, trials: [Trial])]

        package init(kind: String, path: String, trials: [(fault: String, trials: [Trial])]) {
            (self.kind, self.path, self.trials) = (kind, path, trials)
        }
    }

    let command, check, summary, version: String
    /// The faults in the order of the columns.
    let faults: [String]
    /// The places in the order of their first calls.
    let places: [Place]

    package init(
        command: String, check: String, summary: String, version: String, faults: [String], places: [Place]
    ) {
        (self.command, self.check, self.summary, self.version) = (command, check, summary, version)
        (self.faults, self.places) = (faults, places)
    }

    package var text: String {
        ReportPage.document(
            "Sweep of \(command)",
            [
                HTML(
                    "header", [:], HTML("h1", [:], "Sweep report"), HTML.paragraph(HTML.longCode(command)),
                    HTML.paragraph("Check ", HTML.longCode(check)), HTML.paragraph(HTML(HTMLText(summary))),
                    HTML.paragraph("purgefs ", HTML(HTMLText(version)))),
                HTML("main", [:], [map, failures]),
            ])
    }

    private var map: HTML {
        let rows = places.map { place in
            [HTML(HTMLText(place.kind)), HTML.path(place.path)]
                + faults.map { fault in
                    HTML(place.trials.filter { $0.fault == fault }.flatMap { $0.trials.map(\.cell) })
                }
        }
        let columns = ["call", "path"] + faults.map { HTMLText($0) }
        let legend = Trial.Outcome.allCases.map { outcome in
            HTML(
                "li", [:], HTML("span", ["class": "trial \(outcome.rawValue)"]),
                HTML("span", [:], HTML(HTMLText(outcome.name))))
        }
        return HTML.section(
            "map", "Map",
            [
                HTML("ul", ["class": "legend"], legend),
                ReportTable(
                    caption: "One square for each fault, in the order of the calls",
                    columns: columns.map { .text($0) }, rows: rows
                ).html,
            ])
    }

    private var failures: HTML {
        let rows = places.flatMap { place in
            place.trials.flatMap(\.trials).filter { $0.outcome == .failed || $0.outcome == .broken }.map { trial in
                [
                    HTML.code(trial.rule), HTML.path(place.path), .text(trial.detail), .text(trial.output),
                    trial.command.map { HTML.longCode($0) } ?? "",
                ]
            }
        }
        guard !rows.isEmpty else { return HTML.section("failures", "Failures", [HTML.paragraph("None.")]) }
        let columns: [ReportTable.Column] = [
            .text("fault"), .text("path"), .text("outcome"), .text("last output"), .text("again"),
        ]
        return HTML.section(
            "failures", "Failures",
            [ReportTable(caption: "Each with the command that repeats it", columns: columns, rows: rows).html])
    }
}

extension FaultMap.Trial.Outcome {
    fileprivate var name: String {
        switch self {
        case .held: "held"
        case .failed: "failed"
        case .notReached: "not reached"
        case .broken: "not carried out"
        }
    }
}

extension HTML {
    /// Returns code that is not shortened, because it is to be copied.
    fileprivate static func longCode(_ text: String) -> HTML { HTML("code", [:], HTML(HTMLText(text, limit: .max))) }
}
