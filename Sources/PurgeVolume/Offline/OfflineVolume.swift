import PurgeModel
import PurgeStore
import PurgeSystem

/// A store that no daemon holds, accessed through the same control files as a mount.
public final class OfflineVolume {
    let volume: Volume

    let isForReading: Bool

    /// Opens and scans the store, finishes interrupted work, and holds the store's lock for the lifetime of the object. With
    /// `forReading`, nothing in the store changes.
    public init(storePath: String, forReading: Bool = false) throws(StoreError) {
        isForReading = forReading
        let store = try forReading ? Store.openForReading(storePath) : Store.open(storePath, creating: false)
        volume = try Volume(
            store: store, device: store.loadSettings(),
            journal: forReading ? Journal.openForReading(in: store) : Journal.open(in: store), mountpoint: nil,
            port: NoKernel())
        try volume.finishInterruptedWork()
    }

    /// Returns the problems that the scan found, and, if every entry could be read, the sidecars that belong to no file. With
    /// `repairing`, rewrites damaged records of charged blocks, and removes these sidecars.
    public func recordProblems(repairing: Bool) throws(StoreError) -> [StoreProblem] {
        try volume.scan.recordProblems(repairing: repairing)
    }

    /// Returns warnings about entries that could not be read. There may be some because commands that only read do not change
    /// permissions.
    public func unreadableWarnings() -> [String] { volume.scan.unreadableWarnings() }

    /// Returns the text that `MOUNT/.purgefs/NAME` would give. Throws EACCES for `events`, and for files whose text is the
    /// answer to a command.
    public func read(_ name: String) throws(Errno) -> String {
        guard let file = ControlFile(rawValue: name) else { throw .noEntry }
        guard file != .events, !file.answers else { throw .accessDenied }
        return volume.controlFiles.text(of: file)
    }

    /// Writes `text` to a control file, with the effect of a write to `MOUNT/.purgefs/NAME`.
    public func write(_ text: String, to name: String) throws(Errno) {
        if isForReading { throw .readOnly }
        try volume.controlFiles.write(try handle(name), Array(text.utf8), pid: 0)
    }

    /// Writes `command` to storage.plan or storage.reclaim. Returns the answer that reading the file back would give.
    public func exchange(_ command: [UInt8], with name: String) throws(Errno) -> ControlAnswer {
        if isForReading && name != ControlFile.storagePlan.rawValue { throw .readOnly }
        let handle = try handle(name)
        var isShort = false
        do throws(Errno) { try volume.controlFiles.write(handle, command, pid: 0) } catch .tryAgain { isShort = true }
        let text = String(decoding: volume.controlFiles.read(handle, offset: 0, limit: .max), as: UTF8.self)
        return ControlAnswer(text: text, isShort: isShort)
    }

    private func handle(_ name: String) throws(Errno) -> ControlHandle {
        guard let file = ControlFile(rawValue: name) else { throw .noEntry }
        guard file.canWrite else { throw .accessDenied }
        return ControlHandle(file: file, reader: nil)
    }

    /// Saves all changes and closes the journal. Throws if events could not be written. The lock is held until the object is
    /// released.
    public func close() throws(StoreError) {
        if isForReading { return volume.keeper.journal.close() }
        volume.keeper.saveLastUses()
        volume.keeper.saveDevice(durably: true)
        volume.keeper.samples.take(.exact)
        volume.keeper.flushEvents()
        if let failure = volume.events.failure { throw failure }
        volume.keeper.journal.close()
    }
}
