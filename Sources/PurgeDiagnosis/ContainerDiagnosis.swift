import PurgeCommandLine
import PurgeContainers
import PurgeModel

/// What a developer should look at in a container (docs/DIAGNOSIS.md).
package enum ContainerDiagnosis {
    /// Walks all of it. Also of a store that is not mounted; nothing changes. `warn` gets what could not be read.
    package static func report(
        of target: Target, warn: (String) -> Void
    ) throws(CommandFailure) -> DiagnosisReport {
        let container = try DiagnosedContainer(target)
        defer { container.warnings.forEach(warn) }
        let (folder, found) = try DiagnosisReader(container: container).root()
        return try report(of: found, folder, in: container).report
    }

    /// Of a folder and everything below it; and what its files are charged, each counted once.
    static func report(
        of found: DiagnosisReader.Found, _ folder: DiagnosisReader.Folder, in container: DiagnosedContainer
    ) throws(CommandFailure) -> (report: DiagnosisReport, sum: FolderSum) {
        var diagnosis = Diagnosis(container.context)
        var sum = FolderSum(path: found.entry.path)
        diagnosis.add(found.entry)
        try DiagnosisWalk(container).run(below: folder) { (found) throws(CommandFailure) in
            diagnosis.add(found.entry)
            sum.add(found)
        }
        return (diagnosis.report(), sum)
    }
}

/// The files below a folder.
struct FolderSum: Hashable, Encodable {
    var path: String
    /// Their sizes, each file counted once.
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
