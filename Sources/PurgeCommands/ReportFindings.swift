import PurgeCommandLine
import PurgeContainers
import PurgeDiagnosis
import PurgeReport

extension ReportContent {
    /// Adds the findings of a diagnosis of the container, and remarks about the parts that could not be examined.
    static func addFindings(of target: Target, to content: inout ReportContent) {
        do throws(CommandFailure) {
            var warnings: [String] = []
            let report = try ContainerDiagnosis.report(of: target) { warnings.append($0) }
            content.remarks += warnings.filter { !content.remarks.contains($0) }
            content.findings = report.findings.map {
                .init(
                    severity: $0.severity.rawValue, title: $0.rule.title, advice: $0.advice, path: $0.path,
                    bytes: $0.bytes, detail: $0.detail)
            }
            for count in report.rules { content.findingCounts[count.rule.title] = count.findings }
        } catch { content.remarks.append("There are no findings: \(error.message)") }
    }
}
