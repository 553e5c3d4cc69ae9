import PurgeModel
import PurgeStore
import PurgeSystem

/// A store that no daemon holds, worked on through the same control files that a mount has.
public final class OfflineVolume {
    private let volume: Volume

    /// Takes the store's lock until `close`, and scans it.
    public init(storePath: String) throws(StoreError) {
        let store = try Store.open(storePath, creating: false)
        volume = try Volume(
            store: store, settings: store.loadSettings(), journal: Journal.open(in: store), mountpoint: nil)
    }

    /// What `MOUNT/.purgefs/NAME` would read.
    public func read(_ name: String) throws(Errno) -> String {
        guard let file = ControlFile(rawValue: name) else { throw .noEntry }
        guard file.canRead, file != .events, file != .storagePlan else { throw .accessDenied }
        return volume.controlText(file)
    }

    /// What writing `text` to `MOUNT/.purgefs/NAME` would do.
    public func write(_ text: String, to name: String) throws(Errno) { _ = try command(text, name) }

    /// What writing `text` to storage.plan and reading it back would give: JSON lines.
    public func exchange(_ text: String, with name: String) throws(Errno) -> String {
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
        volume.saveLastUses()
        volume.saveSettings(durably: true)
        volume.events.flush()
        if let failure = volume.events.failure { throw failure }
        volume.journal.close()
    }
}
