import PurgeModel
import PurgeStore
import PurgeSystem

/// A store that no daemon holds, worked on through the same control files that a mount has.
public final class OfflineVolume {
    private let volume: Volume

    private let isForReading: Bool

    /// Takes the store's lock until `close`, and scans it. With `forReading` nothing in the store changes.
    public init(storePath: String, forReading: Bool = false) throws(StoreError) {
        isForReading = forReading
        let store = try forReading ? Store.openForReading(storePath) : Store.open(storePath, creating: false)
        volume = try Volume(
            store: store, settings: store.loadSettings(),
            journal: forReading ? Journal.openForReading(in: store) : Journal.open(in: store), mountpoint: nil)
    }

    /// What is wrong with the records of charged blocks, mended with `repairing`.
    public func recordProblems(repairing: Bool) throws(StoreError) -> [StoreProblem] {
        try volume.recordProblems(repairing: repairing)
    }

    /// What could not be read, since somebody who only looks changes no permissions.
    public func unreadableWarnings() -> [String] { volume.unreadableWarnings() }

    /// What `MOUNT/.purgefs/NAME` would read.
    public func read(_ name: String) throws(Errno) -> String {
        guard let file = ControlFile(rawValue: name) else { throw .noEntry }
        guard file.canRead, file != .events, file != .storagePlan else { throw .accessDenied }
        return volume.controlText(file)
    }

    /// What writing `text` to `MOUNT/.purgefs/NAME` would do.
    public func write(_ text: String, to name: String) throws(Errno) {
        if isForReading { throw .readOnly }
        _ = try command(text, name)
    }

    /// What writing `text` to storage.plan and reading it back would give: JSON lines.
    public func exchange(_ text: String, with name: String) throws(Errno) -> String {
        if isForReading && name != ControlFile.storagePlan.rawValue { throw .readOnly }
        let handle = try command(text, name)
        return String(decoding: volume.readControl(handle, offset: 0, limit: .max), as: UTF8.self)
    }

    private func command(_ text: String, _ name: String) throws(Errno) -> ControlHandle {
        guard let file = ControlFile(rawValue: name) else { throw .noEntry }
        guard file.canWrite else { throw .accessDenied }
        let handle = ControlHandle(file: file, reader: nil)
        try volume.controlCommand(handle, Array(text.utf8), pid: 0)
        return handle
    }

    /// Writes back what changed and gives up the lock.
    public func close() throws(StoreError) {
        if isForReading { return volume.journal.close() }
        volume.saveLastUses()
        volume.saveSettings(durably: true)
        volume.events.flush()
        if let failure = volume.events.failure { throw failure }
        volume.journal.close()
    }
}
