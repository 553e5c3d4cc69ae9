import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume

/// The tree that a `TreeCopy` copies: the container of a store, whose attributes are taken as they are stored, or an
/// ordinary directory, whose attributes are taken as an app would set them.
struct CopySource {
    let files: BackupSource
    private let store: Store?
    private let uses: [UInt64: Journal.LastUse]

    init(_ store: Store, _ device: Device, _ uses: [UInt64: Journal.LastUse]) {
        (files, self.store, self.uses) = (BackupSource(store, device), store, uses)
    }

    init(directory: String) throws(StoreError) {
        files = try BackupSource(mount: directory)
        (store, uses) = (nil, [:])
    }

    /// The blocks of a file that are charged though they may be holes; nil for a file without holes.
    func record(of file: FileDescriptor, at path: [UInt8]) throws(StoreError) -> ExtentRecord? {
        guard let store else { return nil }
        do throws(ExtentDamage) { return try store.extentRecord(of: file.raw, nil) } catch {
            throw StoreError(
                "its record of charged blocks \(error.what)", path: files.pathOf(path),
                advice: "Repair the store first: purgefs check --repair \(store.path)")
        }
    }

    func copyAttributes(
        of directory: Int32, _ name: CName?, to newDirectory: Int32, _ newName: CName?
    ) throws(Errno) {
        if store != nil {
            try VisibleAttributes.copyStored(from: directory, name, to: newDirectory, newName)
        } else if newName == nil {
            try VisibleAttributes.copy(from: directory, name, to: newDirectory)
        }
    }

    /// When a file was last used; nil if that is not known. Of a file in an ordinary directory, when it was modified, but
    /// not later than now.
    func lastUse(of status: FileStatus) -> Instant? {
        guard store == nil else { return uses[UInt64(status.st_ino)]?.lastUse }
        let modified = Int64(status.st_mtim.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let now = System.now()
        guard !modified.overflow, modified.partialValue < now else { return Instant(nanoseconds: now) }
        return Instant(nanoseconds: modified.partialValue + Int64(status.st_mtim.tv_nsec))
    }

    /// Times in the future age with the device's clock only if they are remembered beside the file, which a store has
    /// done already.
    func setTimes(
        of status: FileStatus, on directory: Int32, _ name: CName?
    ) throws(Errno) {
        if store == nil {
            try VisibleAttributes.setTimes(
                of: directory, name, access: status.st_atim, modification: status.st_mtim)
        } else if let name {
            try System.setTimes(at: directory, name, access: status.st_atim, modification: status.st_mtim)
        } else {
            try System.setTimes(directory, access: status.st_atim, modification: status.st_mtim)
        }
    }
}
