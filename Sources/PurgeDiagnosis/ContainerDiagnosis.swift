import PurgeCommandLine
import PurgeContainers
import PurgeModel

/// The diagnosis of a whole container (docs/DIAGNOSIS.md).
package enum ContainerDiagnosis {
    /// Diagnoses a container, mounted or not, without changing it. `warn` gets a message for each part that cannot be read, and
    /// one for interrupted work.
    package static func report(
        of target: Target, warn: (String) -> Void
    ) throws(CommandFailure) -> DiagnosisReport {
        let container = try DiagnosedContainer(target)
        defer { container.warnings.forEach(warn) }
        let (folder, found) = try DiagnosisReader(container: container).root()
        return try report(of: found, folder, in: container).report
    }

    /// Diagnoses a folder and everything below it, and sums up the files below, each counted once.
    static func report(
        of found: DiagnosisReader.Found, _ folder: DiagnosisReader.Folder, in container: DiagnosedContainer
    ) throws(CommandFailure) -> (report: DiagnosisReport, sum: FolderSum) {
        var diagnosis = Diagnosis(container.context)
        var sum = FolderSum(path: found.entry.path)
        diagnosis.add(found.entry)
        let walk = DiagnosisWalk(container)
        try walk.run(below: folder) { (found) throws(CommandFailure) in
            diagnosis.add(walk.reader.examined(found))
            sum.add(found)
        }
        return (diagnosis.report(), sum)
    }
}

/// The sum of the files below a folder.
struct FolderSum: Hashable, Encodable {
    var path: String
    /// The sum of the file sizes; a hard-linked file counts once.
    var bytes = ByteCount.zero
    var files: Int64 = 0
    var folders: Int64 = 0
    private var linked: Set<UInt64> = []

    private enum CodingKeys: CodingKey { case path, bytes, files, folders }

    init(path: String) { self.path = path.isEmpty ? "." : path }

    mutating func add(_ found: DiagnosisReader.Found) {
        if found.entry.kind == .folder { folders += 1 }
        guard found.entry.isFile else { return }
        if found.entry.hasSeveralNames, !linked.insert(found.entry.inode).inserted { return }
        bytes += found.entry.size
        files += 1
    }
}
