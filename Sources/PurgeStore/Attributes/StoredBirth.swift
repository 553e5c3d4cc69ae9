import Glibc
import PurgeModel
import PurgeSystem

/// When an entry of a store was created. No program can set a birth time, so a copy of a store keeps the original's time in a
/// hidden attribute of each file and folder. The recorded time counts if it is earlier than the entry's own birth time.
public enum StoredBirth {
    static let key = "user.purgefs.born"

    /// Returns the birth in real time, or nil if neither the attribute nor the file system has it.
    public static func of(_ directory: Int32, _ name: CName?) throws(Errno) -> Instant? {
        earlier(try recorded(of: directory, name), than: try own(of: directory, name))
    }

    /// Returns the birth time that the file system keeps, in nanoseconds; nil if it keeps none.
    package static func own(of directory: Int32, _ name: CName?) throws(Errno) -> Int64? {
        do throws(Errno) {
            if let name { return try System.birthTime(at: directory, name) }
            return try System.birthTime(at: directory, "")
        } catch .noData { return nil }
    }

    /// Records the birth of a file or folder in a new store. If the attribute does not fit, the time of the copy
    /// counts as the birth.
    package static func record(_ birth: Instant, of directory: Int32, _ name: CName?) throws(Errno) {
        do throws(Errno) {
            try System.setAttribute(at: directory, name, key, Array(FileTime(birth).text.utf8))
        } catch {
            guard error.meansNoRoomForAttribute else { throw error }
        }
    }

    /// Returns the time in an entry's attribute if it is earlier than the entry's own birth time or, if that is unknown, than
    /// now; otherwise the entry's own birth time.
    static func earlier(_ recorded: Instant?, than own: Int64?) -> Instant? {
        if let recorded, recorded.nanoseconds < own ?? System.now() { return recorded }
        return own.map(Instant.init(nanoseconds:))
    }

    /// Parses the attribute; returns nil for a value that `record` cannot have written.
    static func instant(_ value: [UInt8]) -> Instant? {
        FileTime(utf8: value).map {
            Instant(seconds: $0.seconds, nanoseconds: $0.nanoseconds)
        }
    }

    private static func recorded(of directory: Int32, _ name: CName?) throws(Errno) -> Instant? {
        do throws(Errno) {
            return try StoredAttributes.value(of: directory, name, key).flatMap(instant)
            // EINVAL: the file is inside a mounted container, where no program can read this attribute.
        } catch .notSupported, .notPermitted, .accessDenied, .invalid { return nil }
    }
}
