import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// The tree that a `TreeCopy` copies. From the container of a store, attributes are copied in their stored form; from an
/// ordinary directory, as if an app set them.
struct CopySource {
    typealias Attribute = VisibleAttributes.Attribute

    private struct Prepared {
        let store: Store
        let device: Device
        let uses: [UInt64: Journal.LastUse]
        /// The device of the store's own file system. The journal does not know the inode numbers of files on other devices.
        let ownDevice: dev_t?
    }

    let files: BackupSource
    private let prepared: Prepared?
    private let now: Instant

    init(_ store: Store, _ device: Device, _ uses: [UInt64: Journal.LastUse]) {
        let status: FileStatus?
        do throws(Errno) { status = try System.status(store.container.raw) } catch { status = nil }
        files = BackupSource(store, device)
        prepared = Prepared(store: store, device: device, uses: uses, ownDevice: status?.st_dev)
        now = StoredClock.now(secondsAhead: device.clock)
    }

    init(directory: String) throws(StoreError) {
        files = try BackupSource(directory: directory)
        prepared = nil
        now = Instant(nanoseconds: System.now())
    }

    /// Returns the blocks of a file that are charged although they may be holes; nil for a file without such a record, and in
    /// an ordinary directory.
    func record(of file: FileDescriptor, at path: [UInt8]) throws(StoreError) -> ExtentRecord? {
        guard let store = prepared?.store else { return nil }
        do throws(ExtentDamage) { return try store.extentRecord(of: file.raw, nil) } catch {
            throw StoreError(
                "its record of charged blocks \(error.what)", path: files.pathOf(path),
                advice: "Repair the store first: purgefs check --repair \(ShellWord.of(store.path))")
        }
    }

    /// Returns the attributes for the copy. Special files in an ordinary directory have none that an app could set.
    func attributes(of directory: Int32, _ name: CName?, isSpecial: Bool = false) throws(Errno) -> [Attribute] {
        if prepared != nil { return try VisibleAttributes.stored(of: directory, name) }
        return isSpecial ? [] : try VisibleAttributes.ordinary(of: directory, name)
    }

    func set(_ attributes: [Attribute], on directory: Int32, _ name: CName? = nil) throws(Errno) {
        if prepared != nil {
            try VisibleAttributes.store(attributes, on: directory, name)
        } else {
            try VisibleAttributes.set(attributes, on: directory)
        }
    }

    /// Returns when a file or folder was created. In an ordinary directory, the modification time is used if it is earlier, as
    /// on APFS, so that touch(1) can make fixtures old.
    func birth(of directory: Int32, _ name: CName?, _ status: FileStatus) throws(Errno) -> Instant {
        let written = Instant(status.st_mtim)
        let real = Instant(nanoseconds: System.now())
        guard let born = try StoredBirth.of(directory, name) else { return min(written, real) }
        return prepared == nil ? min(born, written) : born
    }

    /// Returns when a file was last used, as a mount would find it. In an ordinary directory this is the modification time, but
    /// not later than now.
    func lastUse(of file: Int32, _ status: FileStatus) throws(Errno) -> Instant {
        guard let prepared else {
            return min(Instant(status.st_mtim), now)
        }
        let record = prepared.ownDevice == status.st_dev ? prepared.uses[UInt64(status.st_ino)] : nil
        return try FileLife(of: file, status, on: prepared.device).lastUse(record, now: now)
    }

    /// Sets the times. Times in the future age with the device's clock only if an attribute also records them. In a copy from a
    /// store, this attribute has been copied with the others.
    func setTimes(
        of status: FileStatus, on directory: Int32, _ name: CName?
    ) throws(Errno) {
        if prepared == nil {
            try VisibleAttributes.setTimes(
                of: directory, name, access: status.st_atim, modification: status.st_mtim)
        } else if let name {
            try System.setTimes(at: directory, name, access: status.st_atim, modification: status.st_mtim)
        } else {
            try System.setTimes(directory, access: status.st_atim, modification: status.st_mtim)
        }
    }
}
