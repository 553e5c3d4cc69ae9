import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeBackup

struct RestoreComparisonTests {
    /// Compares a container of `folders` and three-byte `files` with one that contains only `restored`.
    private func comparison(
        _ folders: [String], _ files: [String], restored: [String], flagged: [String] = []
    ) throws -> RestoreComparison {
        var found: RestoreComparison?
        try SampleContainer.with { container in
            let other = "\(container.path)/../other"
            try Files.makeDirectory(other)
            for place in [container.path, other] {
                for folder in folders where place != other || restored.contains(folder) {
                    try Files.makeDirectory("\(place)/\(folder)")
                }
                for file in files where place != other || restored.contains(file) {
                    try Files.write("abc", to: "\(place)/\(file)")
                }
            }
            for path in flagged { try Attributes.mark(container.pathOf(path), "isExcludedFromBackup", "1") }
            found = try RestoreComparison(
                of: try container.source, with: try FileDescriptor.open(other, O_RDONLY),
                BackupProgress(path: "test") { _ in })
        }
        return try #require(found)
    }

    private func texts(_ comparison: RestoreComparison) -> [String] {
        comparison.missing.map { "\($0.path) \($0.reason) \($0.entries) \($0.bytes.bytes)" }
    }

    @Test func nothingIsMissing() throws {
        let found = try comparison(
            ["Documents", "tmp", "Library", "Library/Caches"], ["Documents/a"],
            restored: ["Documents", "tmp", "Library", "Library/Caches", "Documents/a"])
        #expect(found.missing.isEmpty && found.entries == 0 && found.unexpected.isEmpty)
    }

    /// The content of tmp is reported as left out, although the folder itself was restored.
    @Test func contentsOfTmp() throws {
        let found = try comparison(["tmp", "tmp/d"], ["tmp/a", "tmp/d/b"], restored: ["tmp"])
        #expect(texts(found) == ["tmp leftOut(PurgeModel.BackupExclusion.temporary) 3 6"])
    }

    /// The content of a flagged folder of the layout is left out if the flag was set before the backup, and unexpected if it
    /// was set later. The folder itself is always recreated.
    @Test func excludedFolderOfTheLayout() throws {
        let before = try comparison(
            ["Documents"], ["Documents/a"], restored: ["Documents"], flagged: ["Documents"])
        #expect(texts(before) == ["Documents leftOut(PurgeModel.BackupExclusion.excluded) 1 3"])
        #expect(before.unexpected.isEmpty)
        let later = try comparison(
            ["Documents"], ["Documents/a"], restored: ["Documents", "Documents/a"], flagged: ["Documents"])
        #expect(later.missing.isEmpty && later.unexpected == ["Documents/a"])
    }

    @Test func markedLater() throws {
        let found = try comparison(
            ["Documents", "Documents/d"], ["Documents/d/a", "Documents/d/b", "Documents/e"],
            restored: ["Documents", "Documents/d", "Documents/d/a", "Documents/e"], flagged: ["Documents/d"])
        #expect(found.unexpected == ["Documents/d"])
        #expect(texts(found) == ["Documents/d leftOut(PurgeModel.BackupExclusion.excluded) 1 3"])
    }

    /// The new folder stands for its content. Entries excluded within it have a reason of their own.
    @Test func newerFolder() throws {
        let found = try comparison(
            ["Documents", "Documents/n", "Documents/n/m", "Documents/n/x"],
            ["Documents/n/a", "Documents/n/m/b", "Documents/n/x/c", "Documents/n/z", "Documents/o"],
            restored: ["Documents"], flagged: ["Documents/n/x"])
        #expect(
            texts(found) == [
                "Documents/n newer 5 9", "Documents/n/x leftOut(PurgeModel.BackupExclusion.excluded) 2 3",
                "Documents/o newer 1 3",
            ])
    }
}
