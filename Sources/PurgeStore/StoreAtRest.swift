import PurgeModel
import PurgeSystem

/// Operations on a store that take no lock.
public enum StoreAtRest {
    /// Whether purgefs itself uses the name in a store's directory.
    public static func isOwnName(_ name: String) -> Bool { StoreDirectory.isOurs(name) }

    /// Removes the mark of a start from a store whose lock the caller holds. Returns true if the mark was there, which shows
    /// that no other process has since opened the store to change it.
    public static func takeMark(of start: String, from store: FileDescriptor) throws(Errno) -> Bool {
        try StartMark.take(start, from: store)
    }

    /// Returns the settings in device.json, or nil if there is no such file. A daemon may be replacing the file.
    public static func savedSettings(of path: String) throws(StoreError) -> Device? {
        try DeviceFile(place: try StoreDirectory.open(path)).read()
    }
}
