import PurgeSystem

/// The name of a start that releases its store for a while (`purgefs run`, until its daemon has opened the store), in an
/// attribute of the store's directory. Any other process that opens the store to change it removes the name. So a store that
/// still has the name is as that start and its daemon have left it.
enum StartMark {
    private static let key = "user.purgefs.start"

    /// Sets the mark. If that fails, for example for lack of room, a failed start leaves its files behind.
    static func set(_ start: String, on store: FileDescriptor) {
        do throws(Errno) {
            try System.setAttribute(at: store.raw, nil, key, Array(start.utf8))
        } catch {}
    }

    static func isSet(_ start: String, on store: FileDescriptor) -> Bool {
        do throws(Errno) { return try value(on: store) == Array(start.utf8) } catch { return false }
    }

    /// Removes the mark unless it belongs to `start`.
    static func clear(on store: FileDescriptor, butOf start: String?) throws(Errno) {
        guard let found = try value(on: store), found != start.map({ Array($0.utf8) }) else { return }
        try remove(from: store)
    }

    /// Removes the mark and returns true if the mark belongs to `start`.
    static func take(_ start: String, from store: FileDescriptor) throws(Errno) -> Bool {
        guard try value(on: store) == Array(start.utf8) else { return false }
        try remove(from: store)
        return true
    }

    private static func remove(from store: FileDescriptor) throws(Errno) {
        try System.removeAttribute(at: store.raw, nil, key)
    }

    /// Returns the mark; nil if there is none, and an empty array for a mark longer than any path, which belongs to no start.
    private static func value(on store: FileDescriptor) throws(Errno) -> [UInt8]? {
        do throws(Errno) {
            return try System.attribute(at: store.raw, nil, key, limit: 4096)
        } catch .noData, .notSupported {
            return nil
        } catch .range {
            return []
        }
    }
}
