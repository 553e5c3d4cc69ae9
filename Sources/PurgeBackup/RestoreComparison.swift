import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// The differences between a container and a container that was restored from its backup.
struct RestoreComparison {
    enum Reason: Hashable, Sendable {
        case leftOut(BackupExclusion)
        /// Nothing excludes the entry, so it was created after the backup.
        case newer
    }

    struct Missing: Sendable {
        /// The path for people: bytes that are not UTF-8 are U+FFFD.
        var path: String
        var reason: Reason
        var bytes = ByteCount.zero
        var entries: Int64 = 0
    }

    /// Missing entries. A folder stands for everything missing in it.
    private(set) var missing: [Missing] = []
    /// Paths that are excluded from backups now, but were restored. A folder stands for everything in it.
    private(set) var unexpected: [String] = []

    /// The latest excluded, newer and unexpected entry. Each stands for everything inside it, which the walk visits next.
    private var excluded: (item: Missing, index: Int?)?
    private var newer: (path: [UInt8], index: Int)?
    private var lastUnexpected: [UInt8]?
    private var counted: Set<FileIdentity> = []

    /// Folders that every new container has.
    private static let layout = Set(Store.folders.map { Array($0.utf8) } + [[]])

    init(of source: BackupSource, with restored: Store, _ progress: BackupProgress) throws(StoreError) {
        try self.init(of: source, with: restored.container, progress)
    }

    init(
        of source: BackupSource, with restored: FileDescriptor, _ progress: BackupProgress
    ) throws(StoreError) {
        var finder = FolderFinder(restored)
        var found = RestoreComparison()
        try ContainerWalk(source: source).run { (entry) throws(StoreError) in
            try progress.noteEntry()
            let isThere = try source.reading(entry.path) { () throws(Errno) in try finder.has(entry.path) }
            found.add(entry, isThere: isThere)
            return true
        }
        self = found
    }

    private init() {}

    private mutating func add(_ entry: WalkedEntry, isThere: Bool) {
        guard let exclusion = entry.placement.exclusion else {
            if !isThere { count(entry, at: indexOfNewer(entry)) }
            return
        }
        if entry.placement.isFirst {
            excluded = (Missing(path: PathForm.text(entry.path), reason: .leftOut(exclusion)), nil)
        }
        if isThere { addUnexpected(entry.path) } else if let index = indexOfExcluded() { count(entry, at: index) }
    }

    private mutating func addUnexpected(_ path: [UInt8]) {
        if Self.layout.contains(path) { return }
        if let last = lastUnexpected, Self.is(path, in: last) { return }
        unexpected.append(PathForm.text(path))
        lastUnexpected = path
    }

    private mutating func indexOfExcluded() -> Int? {
        guard let found = excluded else { return nil }
        if let index = found.index { return index }
        missing.append(found.item)
        excluded?.index = missing.count - 1
        return missing.count - 1
    }

    private mutating func indexOfNewer(_ entry: WalkedEntry) -> Int {
        if let newer, Self.is(entry.path, in: newer.path) { return newer.index }
        missing.append(Missing(path: PathForm.text(entry.path), reason: .newer))
        newer = (entry.path, missing.count - 1)
        return missing.count - 1
    }

    /// Counts an entry. The size of a hard-linked file counts once.
    private mutating func count(_ entry: WalkedEntry, at index: Int) {
        missing[index].entries += 1
        guard entry.kind == S_IFREG else { return }
        if entry.status.st_nlink > 1, !counted.insert(FileIdentity(entry.status)).inserted { return }
        missing[index].bytes += ByteCount(Int64(entry.status.st_size))
    }

    private static func `is`(_ path: [UInt8], in folder: [UInt8]) -> Bool {
        path.starts(with: folder + [UInt8(ascii: "/")])
    }

    /// How many entries are missing.
    var entries: Int64 { missing.reduce(0) { $0 + $1.entries } }
}
