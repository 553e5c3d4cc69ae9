import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// What a container has that a container restored from its backup has not.
public struct RestoreComparison {
    public enum Reason: Hashable, Sendable {
        case leftOut(BackupExclusion)
        /// Nothing keeps it out of a backup: it was made after this one.
        case newer
    }

    public struct Missing: Sendable {
        /// For people: bytes that are not UTF-8 are U+FFFD.
        public var path: String
        public var reason: Reason
        public var bytes = ByteCount.zero
        public var entries: Int64 = 0
    }

    /// A folder stands for everything in it.
    public private(set) var missing: [Missing] = []
    /// Paths that must not have been restored, but were.
    public private(set) var unexpected: [String] = []

    /// Folders that a new container has, too.
    private static let layout: Set<[UInt8]> = [Array("tmp".utf8), Array("Library/Caches".utf8)]

    public init(of source: BackupSource, with restored: Store, _ progress: BackupProgress) throws(StoreError) {
        var finder = FolderFinder(restored.container)
        var (missing, unexpected): ([Missing], [String]) = ([], [])
        try ContainerWalk(source: source).run { (entry) throws(StoreError) in
            try progress.step()
            let isThere = try source.reading(entry.path) { () throws(Errno) in try finder.has(entry.path) }
            let exclusion = entry.placement.exclusion
            if isThere && exclusion == nil { return true }
            if isThere && !Self.layout.contains(entry.path) { unexpected.append(PathForm.text(entry.path)) }
            if entry.placement.isFirst || exclusion == nil {
                missing.append(
                    Missing(path: PathForm.text(entry.path), reason: exclusion.map { .leftOut($0) } ?? .newer))
            }
            guard !missing.isEmpty else { return true }
            missing[missing.count - 1].entries += 1
            if entry.kind == S_IFREG {
                missing[missing.count - 1].bytes += ByteCount(Int64(entry.status.st_size))
            }
            return true
        }
        (self.missing, self.unexpected) = (missing, unexpected)
    }

    /// How many entries are missing.
    public var entries: Int64 { missing.reduce(0) { $0 + $1.entries } }
}
