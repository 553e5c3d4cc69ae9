import FoundationEssentials
import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// Walks a container and adds up the contents of a backup of it.
struct ContainerAudit {
    private let source: BackupSource
    /// When each file was last used, by inode. Some files may have no entry here.
    private let lastUses: [UInt64: Journal.LastUse]
    private let progress: BackupProgress

    init(_ source: BackupSource, lastUses: [UInt64: Journal.LastUse], _ progress: BackupProgress) {
        (self.source, self.lastUses, self.progress) = (source, lastUses, progress)
    }

    func run() throws(StoreError) -> BackupAuditReport {
        var audit = BackupAudit()
        try ContainerWalk(source: source, flags: .all).run { (entry) throws(StoreError) in
            try progress.noteEntry()
            audit.add(item(entry))
            return true
        }
        return audit.report()
    }

    private func item(_ entry: WalkedEntry) -> BackupAudit.Item {
        let isFile = entry.kind == S_IFREG
        let isCache = entry.placement.exclusion == .temporary || entry.placement.exclusion == .caches
        let use = isFile && isCache ? lastUses[UInt64(entry.status.st_ino)]?.lastUse : nil
        return BackupAudit.Item(
            path: PathForm.text(entry.path), isFile: isFile,
            link: isFile && entry.status.st_nlink > 1 ? UInt64(entry.status.st_ino) : nil,
            size: ByteCount(Int64(entry.status.st_size)),
            placement: entry.placement, created: use == nil ? nil : created(entry),
            lastUse: use)
    }

    /// Returns the creation date as an app sees it; nil if the store does not have it, or if it cannot be read.
    private func created(_ entry: WalkedEntry) -> Instant? {
        guard let name = entry.name else { return nil }
        do throws(Errno) {
            guard let device = source.device else { return try Self.creationDate(entry.folder.raw, name) }
            guard let birth = try StoredBirth.of(entry.folder.raw, name) else { return nil }
            let shown = device.fileClock.shown(FileTime(birth))
            return Instant(seconds: shown.seconds, nanoseconds: shown.nanoseconds)
        } catch { return nil }
    }

    /// Returns the creation date in a mount; nil if it cannot be parsed. Reads the extended attribute, because the birth time
    /// in statx(2) may be stale after an advance of the clock (docs/CLOCK.md).
    private static func creationDate(_ folder: Int32, _ name: RawText) throws(Errno) -> Instant? {
        let text = try System.attribute(at: folder, name, creationDateKey, limit: 64)
        let form = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        do {
            let date = try form.parse(String(decoding: text, as: UTF8.self))
            return Instant(nanoseconds: Int64(date.timeIntervalSince1970 * 1_000_000_000))
        } catch { return nil }
    }

    private static let creationDateKey = StorageAttribute.prefix.description + ComputedAttribute.creationDate.rawValue
}
