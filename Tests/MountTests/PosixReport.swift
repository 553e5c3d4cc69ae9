import Foundation
import Support
import Testing

/// The report of Programs/posix.py about a mount and a plain directory.
struct PosixReport: Decodable {
    /// Names of the checks that ran.
    var ran: [String]
    /// Checks that docs/POSIX.md lists as different.
    var listed: [String]
    /// Checks that were skipped because they need root.
    var skipped: [String]
    /// The failures, by the names of the checks.
    var failures: [String: String]

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    static let program = folder.appendingPathComponent("Programs/posix.py").path
    static let table = folder.appendingPathComponent("../../docs/POSIX.md").standardized.path

    /// Runs the checks in the directories `mounted` and `plain`, which must exist and be empty.
    init(
        mounted: String, plain: String, table: String? = Self.table, only: String = "", readOnly: String? = nil,
        scratch: String
    ) throws {
        let report = "\(scratch)/report.json"
        var arguments = [Program.python, Self.program, mounted, plain, "--only", only, "--report", report]
        if let table { arguments += ["--table", table] }
        if let readOnly { arguments += ["--readonly", readOnly] }
        let outcome = try Program.run(arguments, timeout: 1200)
        guard Files.exists(report) else { throw TestFailure("no report: \(outcome)") }
        self = try JSONDecoder().decode(Self.self, from: Data(Files.content(report)))
        try Files.unlink(report)
        guard (outcome.status == 0) == (failures.isEmpty && !ran.isEmpty) else { throw TestFailure("\(outcome)") }
    }

    /// Records an issue for each failed check. Expects that no check was skipped and that at least `count` ran.
    func expectAgreement(atLeast count: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        for (name, wrong) in failures.sorted(by: { $0.key < $1.key }) {
            Issue.record("\(name)\n\(wrong)", sourceLocation: sourceLocation)
        }
        #expect(skipped == [], "these need root", sourceLocation: sourceLocation)
        #expect(ran.count >= count, "so many checks at least", sourceLocation: sourceLocation)
    }
}
