import Foundation
import Support
import Testing

extension Mounts {
    /// Checks that the comparison of PosixTests detects differences.
    @Suite struct PosixComparisonTests {
        /// Returns the failures of a comparison of two plain directories.
        private func failures(
            only: String, table rows: String? = nil, readOnly: String? = nil
        ) throws -> [String: String] {
            try Scratch.with("posix") { scratch in
                let sides = ["one", "other"].map { "\(scratch.path)/\($0)" }
                for side in sides { try Files.makeDirectory(side) }
                let table = rows.map { _ in "\(scratch.path)/table.md" }
                if let rows, let table { try Files.write("## Differences\n\n\(rows)\n", to: table) }
                return try PosixReport(
                    mounted: sides[0], plain: sides[1], table: table, only: only, readOnly: readOnly,
                    scratch: scratch.path
                ).failures
            }
        }

        @Test func twoPlainDirectoriesAgree() throws {
            #expect(try failures(only: "^symlink_targets$") == [:])
        }

        @Test func aDifferenceThatIsNotListedFails() throws {
            try withMount { mount in
                let (mounted, plain) = (mount.path("Documents/posix"), "\(mount.scratch)/plain")
                for directory in [mounted, plain] { try Files.makeDirectory(directory) }
                let failures = try PosixReport(
                    mounted: mounted, plain: plain, table: nil, only: "^xattr_without_a_name_space$",
                    scratch: mount.scratch
                ).failures
                #expect(Array(failures.keys) == ["xattr_without_a_name_space"])
                #expect(failures.values.first?.contains("[0]: mount ok | plain ENOTSUP") == true)
            }
        }

        @Test func aListedDifferenceThatIsNoneFails() throws {
            let failures = try failures(only: "^symlink_targets$", table: "| `symlink_targets` | nothing | none |")
            #expect(failures["symlink_targets"]?.contains("does not differ") == true)
        }

        @Test func aListedCheckThatIsNotThereFails() throws {
            let failures = try failures(only: "^symlink_targets$", table: "| `symlink_lengths` | nothing | none |")
            #expect(failures["symlink_lengths"]?.contains("no such check") == true)
        }

        /// The check fails on both sides, because the tree that it needs is missing. Equal failures do not count as agreement.
        @Test func aBrokenCheckFails() throws {
            let failures = try failures(only: "^readonly_can_be_read$", readOnly: "check")
            #expect(failures["readonly_can_be_read"]?.contains("broken: ") == true)
        }

        /// Each row describes a difference and gives a reason.
        @Test func everyRowOfTheTableHasAReason() throws {
            let text = try #require(Files.text(PosixReport.table).components(separatedBy: "\n## Differences\n").last)
            let rows = text.components(separatedBy: "\n").filter { $0.hasPrefix("| `") }
            #expect(!rows.isEmpty)
            for row in rows {
                let cells = row.components(separatedBy: " | ")
                #expect(cells.count == 3 && cells.allSatisfy { $0.count > 4 }, "\(row)")
            }
        }
    }
}
