import PurgeCommandLine
import PurgeContainers
import PurgeSystem

extension OptionSpec {
    fileprivate static let reportOutput = OptionSpec(
        "output", .file, "the page to write, or - for standard output; an existing file is replaced")
}

extension Verb {
    /// Creates the verb. `addFindings` adds the findings of a diagnosis to the content.
    package static func report(addFindings: @escaping @Sendable (Target, inout ReportContent) -> Void) -> Verb {
        Verb(
            name: "report", summary: "write a page about the storage of a container",
            synopsis: "[TARGET] --output FILE.html",
            description: [
                "Writes one self-contained HTML page: the use of the storage; use and free space over time, with "
                    + "purges and refusals; the largest files; findings; and settings. Its numbers equal the output "
                    + "of `purgefs status` at that moment. It can be read on a phone and printed."
            ],
            options: [OptionSpec.reportOutput], operands: 0...1, exitStatus: ExitStatus.plain,
            examples: ["purgefs report ./app --output ./report.html"]
        ) { (invocation) throws(CommandFailure) in
            guard let path = invocation.arguments.text(.reportOutput) else {
                throw .usage("--output FILE is missing: name the report to write")
            }
            let file = ReportFile(path: path)
            try file.check()
            var gathering = ReportGathering(try Target(invocation.arguments.operands.first))
            let content = try gathering.gather(addFindings: addFindings)
            for remark in content.remarks {
                // A message may have several lines.
                let lines = remark.split(separator: "\n").map { VisibleText.of(String($0)) }
                invocation.console.warn("warning: \(lines.joined(separator: "\n"))")
            }
            // Defer signals until the file is complete.
            do throws(Errno) { _ = try System.block(.ending) } catch {
                throw CommandFailure("cannot write the report", path: path, error)
            }
            try file.write(content)
            return ExitStatus.done
        }
    }
}
