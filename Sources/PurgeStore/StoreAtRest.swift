import PurgeModel
import PurgeSystem

/// What can be learned about a store without its lock.
public enum StoreAtRest {
    /// Whether something of that name in a store's directory is purgefs's own.
    public static func isOwnName(_ name: String) -> Bool { StoreDirectory.isOurs(name) }

    /// Removes the mark of a start from a store whose lock the caller has, if no other process has opened it since to
    /// change it. Returns whether that is so.
    public static func takeMark(of start: String, from store: FileDescriptor) throws(Errno) -> Bool {
        try StartMark.take(start, from: store)
    }

    /// What device.json has at this moment, which a daemon may be replacing. nil if there is none.
    public static func savedSettings(of path: String) throws(StoreError) -> Device? {
        try DeviceFile(place: try StoreDirectory.open(path)).read()
    }
}
