import PurgeStore
import PurgeSystem

/// A store that no daemon holds, worked on through the same control files that a mount has.
public final class OfflineVolume {
    /// Takes the store's lock until `close`, and scans it.
    public init(storePath: String) throws(StoreError) {
        throw StoreError("not built yet", path: storePath, advice: "")
    }
    /// What `MOUNT/.purgefs/NAME` would read.
    public func read(_ name: String) throws(Errno) -> String { throw .notImplemented }
    /// What writing `text` to `MOUNT/.purgefs/NAME` would do.
    public func write(_ text: String, to name: String) throws(Errno) { throw .notImplemented }
    /// What writing `text` to storage.plan and reading it back would give: JSON lines.
    public func exchange(_ text: String, with name: String) throws(Errno) -> String { throw .notImplemented }
    /// Writes back what changed and gives up the lock.
    public func close() throws(StoreError) {}
}
